-- needs: ccp/views.sql, lattice/beam.sql
-- All that a hex sees within 8 hexes in ccp, as sets of hexes: 16.1, 16.2, T88, T89.3, T89.4.
--
-- The rules are those of ccp.los and the judgement is that of ccp._seen, which is for any lines; here a hex asks for all
-- around itself. A line is known by its target, so a set of lines is a set of hexes (lattice.hex_bit), and the lines that
-- pass a hex are a set too (lattice.beam). What a hex does to lines turns on the level of their targets alone: it is judged
-- once for each level, for all lines at once. Only where something is drawn in a part of a hex are the lines that are still
-- open taken one by one and compared with the edges in it.

drop type if exists ccp.surrounding cascade;
create type ccp.surrounding as (
  place integer,
  q integer,
  r integer,
  level integer,
  wanted boolean,
  ablaze boolean,
  fills boolean,
  obstacles integer array,
  blazes integer array,
  whole boolean,
  centred boolean,
  crests integer array,
  crest_levels integer array,
  marked boolean,
  one bit (289)
);

comment on type ccp.surrounding is
'A hex within 8 of a viewer, as its lines meet it.';
comment on column ccp.surrounding.wanted is 'No gully hides it from the viewer, or the viewer from it (T88)';
comment on column ccp.surrounding.ablaze is 'A blaze is there';
comment on column ccp.surrounding.fills is 'An Obstacle is all over it, undrawn; whole: drawn; centred: over its dot';
comment on column ccp.surrounding.obstacles is 'The Obstacles that are drawn in it; blazes, crests: the blazes, the crest lines';
comment on column ccp.surrounding.marked is 'Something of all that is there';
comment on column ccp.surrounding.place is 'Its place in a set of hexes (lattice.hex_bit); one: the set of it alone';

create or replace function ccp._surroundings(viewer ccp.outlook, radius integer)
returns setof ccp.surrounding
language sql stable rows 200
as $$
  select
    place.place,
    place.q,
    place.r,
    place.level,
    place.wanted,
    place.ablaze,
    place.fills,
    place.obstacles,
    place.blazes,
    place.whole <> '{}' and place.whole && place.obstacles,
    place.within <> '{}' and place.within && place.obstacles,
    place.crests,
    place.crest_levels,
    place.ablaze or place.fills or place.obstacles <> '{}' or place.blazes <> '{}' or place.crest_levels <> '{}',
    lattice.place_set(place.place)
  from (
    select
      lattice.hex_bit(hex.q - eye.q, hex.r - eye.r) as place,
      hex.q,
      hex.r,
      hex.level::integer as level,
      (hex.q <> eye.q or hex.r <> eye.r)
      and not (eye.in_gully and ccp._hides_in_gully(lattice.distance(hex.q, hex.r, eye.q, eye.r), eye.level, hex.level))
      and not (
        hex.terrain = 'gully' and ccp._hides_in_gully(lattice.distance(hex.q, hex.r, eye.q, eye.r), hex.level, eye.height)
      ) as wanted,
      hex.terrain = 'blaze' or burning.q is not null as ablaze,
      not hex.drawn and hex.terrain = any(eye.obstacles) as fills,
      case
        when hex.areas = '{}' or hex.area_terrains <@ eye.obstacles then hex.areas
        when hex.area_terrains && eye.obstacles
          then array(select area.n from unnest(hex.areas, hex.area_terrains) as area (n, terrain) where area.terrain = any(eye.obstacles))
        else '{}'
      end as obstacles,
      case
        when hex.areas <> '{}' and 'blaze' = any(hex.area_terrains)
          then array(select area.n from unnest(hex.areas, hex.area_terrains) as area (n, terrain) where area.terrain = 'blaze')
        else '{}'
      end as blazes,
      hex.whole,
      hex.within,
      hex.crests,
      hex.crest_levels
    from public.drawn_hex as hex
    cross join (
      select
        viewer.q as q,
        viewer.r as r,
        viewer.level as level,
        viewer.height as height,
        viewer.in_gully as in_gully,
        viewer.obstacles as obstacles
      offset 0
    ) as eye
    left join (
      select distinct marker.q, marker.r
      from public.marker
      where marker.position_id = viewer.position_id
        and marker.kind = 'blaze'
      offset 0
    ) as burning on burning.q = hex.q and burning.r = hex.r
    where hex.map_id = viewer.map_id
      and hex.q between viewer.q - radius and viewer.q + radius
      and hex.r between viewer.r - radius and viewer.r + radius
      and hex.q + hex.r between viewer.q + viewer.r - radius and viewer.q + viewer.r + radius
    offset 0
  ) as place
$$;

comment on function ccp._surroundings(ccp.outlook, integer) is
'The hexes around a viewer up to a range of 8, itself among them.';

create or replace function ccp._lines_off_map(on_map bit, wanted bit, radius integer)
returns bit
language plpgsql stable
as $$
declare
  nothing constant bit(289) := b'0'::bit(289);
begin
  return (
    with off_map as (
      select beam.q, beam.r, beam.through, beam.passed & ~beam.through as beside
      from lattice.beam
      where beam.away <= radius
        and get_bit(on_map, beam.place) = 0
        and beam.passed & wanted <> nothing
    )
    select coalesce(bit_or(shut.lines), nothing)
    from (
      select off_map.through as lines
      from off_map
      union all
      -- a side along which there is no hex of the map
      select lattice.hex_set(passage.dq, passage.dr)
      from off_map
      inner join lattice.passage on passage.q = off_map.q and passage.r = off_map.r and passage.spine
      where off_map.beside <> nothing
      group by passage.dq, passage.dr, passage.enter
      having count(*) = 2
    ) as shut
  );
end
$$;

comment on function ccp._lines_off_map(bit, bit, integer) is
'Of the lines within a range to some hexes those that leave the map on their way, by the hexes around that are on it.';

create or replace function ccp._plain_views_around(
  viewer ccp.outlook, radius integer, out seen bit, out slopes ccp.view[], out cells ccp.view_cell[]
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  nothing constant bit(289) := b'0'::bit(289);
  board bigint := viewer.map_id;
  eye_q integer := viewer.q;
  eye_r integer := viewer.r;
  eye_x bigint := 3072 * viewer.q;
  eye_y bigint := 1024 * (2 * viewer.r + viewer.q);
  height integer := viewer.height;
  aloft boolean := viewer.aloft;
  lower_bars boolean := viewer.lower_bars;
  at_hand integer[] := viewer.at_hand;
begin
  with spot as materialized (
    select * from ccp._surroundings(viewer, radius)
  ),
  -- the targets of one level, as those of one line in ccp._views
  target as materialized (
    select
      level.*,
      level.high + case when level.high = level.low then 1 else 0 end as floor,
      case when level.low > 0 and lower_bars then level.low else level.high end as barrier
    from (
      select
        bit_or(spot.one) as hexes,
        greatest(height, spot.level) as high,
        least(height, spot.level) as low,
        sign(height - spot.level)::integer as downward
      from spot
      where spot.wanted
      group by spot.level
      offset 0
    ) as level
  ),
  judged as materialized (
    select
      met.*,
      met.hexes & case
        when met.level >= met.barrier then met.met
        -- T89.4.1: the blind hex behind an Obstacle beside the lower end
        when met.level >= met.low and met.downward = 1 then met.far
        when met.level >= met.low and met.downward = -1 then met.near
        else nothing
      end as barred,
      met.level >= met.floor as high
    from (
      select
        spot.*,
        beam.through,
        beam.met,
        beam.passed,
        beam.near,
        beam.far,
        beam.dot,
        target.hexes,
        target.low,
        target.floor,
        target.barrier,
        target.downward,
        case
          when spot.crest_levels <> '{}'
            then (select min(crest.level) from unnest(spot.crest_levels) as crest (level) where crest.level >= target.floor)
        end as crest
      from spot
      inner join target on spot.marked or spot.level >= target.floor
      inner join lattice.beam on beam.place = spot.place
      offset 0
    ) as met
    offset 0
  ),
  dark as materialized (
    select coalesce(bit_or(shut.lines), nothing) as lines
    from (
      select
        judged.hexes & case
          when judged.ablaze or (judged.high and (judged.crest is null or judged.crest > judged.floor)) then judged.met
          when judged.fills then judged.barred
          when judged.whole then judged.barred & judged.through
          when judged.centred then judged.barred & judged.dot
          else nothing
        end as lines
      from judged
      union all
      select ccp._lines_off_map(on_map.hexes, on_map.wanted, radius)
      from (
        select bit_or(spot.one) as hexes, bit_or(spot.one) filter (where spot.wanted) as wanted, count(*) as n from spot
      ) as on_map
      where on_map.n <= 3 * radius * (radius + 1)
    ) as shut
  ),
  partial as materialized (
    select *
    from (
      select
        judged.place,
        judged.q,
        judged.r,
        judged.obstacles,
        judged.blazes,
        judged.crests,
        judged.floor,
        judged.high,
        judged.crest,
        judged.barred,
        judged.obstacles && at_hand or judged.blazes && at_hand as spread,
        case
          when judged.blazes <> '{}' or judged.crest is not null then judged.hexes & judged.met
          when judged.obstacles <> '{}' then judged.barred
          else nothing
        end & ~dark.lines as lines
      from judged
      cross join dark
      offset 0
    ) as place
    where place.lines <> nothing
  ),
  cell as materialized (
    select
      partial.place,
      passage.place as i,
      passage.dx,
      passage.dy,
      passage.dx * eye_y - passage.dy * eye_x as dot,
      partial.floor,
      partial.obstacles <> '{}' and get_bit(partial.barred, passage.place) = 1 as screened,
      passage.touch,
      passage.near,
      passage.far,
      passage.enter,
      passage.leave,
      passage.den
    from partial
    cross join lateral (
      select passage.*, 3 * passage.dq::bigint as dx, 2 * passage.dr::bigint + passage.dq as dy
      from lattice.passage
      where passage.q = partial.q - eye_q
        and passage.r = partial.r - eye_r
        and get_bit(partial.lines, passage.place) = 1
      offset 0
    ) as passage
    offset 0
  ),
  crossed as (
    select
      cell.*,
      edge.x1 - eye_x as x1,
      edge.y1 - eye_y as y1,
      edge.x2 - eye_x as x2,
      edge.y2 - eye_y as y2,
      cell.dx * edge.y1 - cell.dy * edge.x1 - cell.dot as off1,
      cell.dx * edge.y2 - cell.dy * edge.x2 - cell.dot as off2,
      3072 * (place.q - eye_q)::bigint as x,
      1024 * (2 * (place.r - eye_r) + place.q - eye_q)::bigint as y,
      case when edge.crest then edge.level >= cell.floor else edge.burns or cell.screened end as counts
    from (
      select spot.place, spot.q, spot.r, spot.obstacles, spot.blazes, spot.crests
      from spot
      where spot.place in (select partial.place from partial)
      offset 0
    ) as place
    cross join lateral (
      select edge.*
      from ccp._screen_edges(board, place.q, place.r, place.obstacles, place.blazes, place.crests) as edge
      where edge.part
      offset 0
    ) as edge
    inner join cell
      on cell.place = place.place
        -- its ends are on either side of the line
        and (cell.dx * edge.y1 - cell.dy * edge.x1 - cell.dot) * (cell.dx * edge.y2 - cell.dy * edge.x2 - cell.dot) <= 0
    offset 0
  ),
  touching as materialized (
    select coalesce(bit_or(lattice.place_set(at.i)), nothing) as lines
    from (
      select
        crossed.*,
        case when crossed.off1 < crossed.off2 then -1 else 1 end * (crossed.x2 * crossed.off1 - crossed.x1 * crossed.off2) as px,
        case when crossed.off1 < crossed.off2 then -1 else 1 end * (crossed.y2 * crossed.off1 - crossed.y1 * crossed.off2) as py,
        abs(crossed.off1 - crossed.off2) as w
      from crossed
      where crossed.counts
      offset 0
    ) as at
    where ccp._is_met(
      at.px, at.py, at.w, at.x, at.y, at.dx, at.dy, at.touch, at.near, at.far, at.x1, at.y1, at.x2, at.y2, at.enter, at.leave, at.den
    )
  ),
  open as materialized (
    select
      coalesce((select bit_or(target.hexes) from target), nothing) & ~dark.lines & ~touching.lines as lines,
      coalesce((select bit_or(judged.hexes & judged.passed & ~judged.barred) from judged where judged.marked), nothing) as passed_over
    from dark
    cross join touching
  )
  select
    open.lines,
    array(
      select
        row(
          beam.place, eye_q + beam.q, eye_r + beam.r, target.high, target.low, target.floor, target.barrier, target.downward,
          3 * beam.q, 2 * beam.r + beam.q, greatest(abs(2 * beam.q + beam.r), abs(beam.q + 2 * beam.r), abs(beam.q - beam.r))
        )::ccp.view
      from target
      inner join lattice.beam on get_bit(target.hexes & open.lines, beam.place) = 1
      where target.downward = -1
        or (target.downward = 1 and not aloft)
    ),
    array(
      select
        row(
          cell.i, partial.q, partial.r, cell.enter, cell.leave, cell.den, cell.dx, cell.dy, partial.high, partial.crest,
          cell.screened, partial.blazes <> '{}', cell.near and partial.spread, get_bit(open.passed_over, cell.i) = 1
        )::ccp.view_cell
      from cell
      inner join partial on partial.place = cell.place and partial.floor = cell.floor and get_bit(partial.lines, cell.i) = 1
      where get_bit(open.lines, cell.i) = 1
        and ((cell.near and partial.spread) or partial.crest is not null or get_bit(open.passed_over, cell.i) = 1)
    )
  into seen, slopes, cells
  from open;
end
$$;

comment on function ccp._plain_views_around(ccp.outlook, integer) is
'ccp._plain_views of all hexes within a range of 8: the lines that are neither shut by whole hexes nor by an edge, of these the
ones over a slope, and the cells that a line may yet be inside of something in.';

create or replace function ccp._seen_around(sighting ccp.sighting, viewer ccp.outlook, radius integer)
returns bit
language plpgsql stable
as $$
declare
  plain record;
  inside record;
  doubtful integer[];
  seen bit(289);
begin
  plain := ccp._plain_views_around(viewer, radius);
  inside := ccp._inner_views(viewer, plain.cells);
  seen := plain.seen
    & ~lattice.places_set(inside.shut || inside.doubtful)
    & ~lattice.places_set(ccp._uphill_views(viewer, plain.slopes));
  if inside.doubtful <> '{}' then
    select array_agg(beam.place order by beam.place), array_agg(viewer.q + beam.q order by beam.place),
      array_agg(viewer.r + beam.r order by beam.place)
    into doubtful, sighting.qs, sighting.rs
    from lattice.beam
    where beam.place = any(inside.doubtful);
    seen := seen | lattice.places_set(
      array(select doubtful[verdict.i] from ccp._verdicts(sighting) as verdict where verdict.visible)
    );
  end if;
  return seen;
end
$$;

comment on function ccp._seen_around(ccp.sighting, ccp.outlook, integer) is
'The hexes that the viewer of a sighting sees within a range of 8, as a set around it; the verdicts are those of ccp.los.';
