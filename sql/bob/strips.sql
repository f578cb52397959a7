-- needs: bob/thread.sql, positions/state.sql
-- What lies beside a thread in bob (Band of Brothers), strip by strip: 14.0, 40.2, 45.4, 46.0.
--
-- The thread is cut into strips wherever artwork, a crest line or a hex begins or ends
-- beside it, and each strip is looked at on both its flanks.
--
-- Ground. A hex lies at its level up to its sides, unless a crest line is drawn inside it:
-- then the thread keeps the level it came in with until it crosses a crest, and where the
-- ways from its two ends do not agree, the higher one counts. A gully's bank inside a gully
-- hex next to an end hides nothing (45.4); an anti-tank ditch is drawn as a gully (54.5).

drop type if exists bob.bordering_hex cascade;
create type bob.bordering_hex as (
  n integer,
  kind text,
  enter numeric,
  leave numeric,
  flank integer,
  q integer,
  r integer,
  label text,
  terrain text,
  sight text,
  level integer,
  crested boolean,
  fills boolean,
  upper boolean
);

comment on type bob.bordering_hex is
'An intervening hex as a thread has it on one flank: a hex that is crossed lies on both, those of a spine on one each.';
comment on column bob.bordering_hex.n is 'The cell of the line, in order of entry';
comment on column bob.bordering_hex.q is 'Null off the map, as all that follows';
comment on column bob.bordering_hex.sight is 'What its terrain does to sight';
comment on column bob.bordering_hex.crested is 'A crest line is drawn inside it';
comment on column bob.bordering_hex.fills is 'Its terrain bears on sight, is not drawn, and is taken to fill it';
comment on column bob.bordering_hex.upper is 'It is a building with an upper level';

drop type if exists bob.cover cascade;
create type bob.cover as (
  n integer,
  terrain text,
  sight text,
  flank integer,
  enter numeric,
  leave numeric
);

comment on type bob.cover is
'A drawn area that lies beside a thread: on which flank, from where to where.';

drop type if exists bob.known_level cascade;
create type bob.known_level as (
  flank integer,
  enter numeric,
  leave numeric,
  level integer
);

comment on type bob.known_level is
'A stretch of a thread where the level is known for certain: an end, or a hex without a crest line.';

drop type if exists bob.strip cascade;
create type bob.strip as (
  n integer,
  kind text,
  enter numeric,
  leave numeric,
  flank integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  near integer,
  far integer,
  ground integer,
  cover text,
  area integer,
  height integer,
  grass boolean,
  grass_area integer,
  hides text,
  ground_hides text,
  woods_hide boolean
);

comment on type bob.strip is
'A strip of a thread on one flank: the hex there, the ground, what stands on it, and whether that hides the ends.';
comment on column bob.strip.level is 'Of the hex, where `ground` is that of the strip';
comment on column bob.strip.near is 'Hexes from the higher end, `far` from the lower';
comment on column bob.strip.cover is 'What stands there, from the drawn `area`, or filling the hex; so many levels high';
comment on column bob.strip.grass is 'Grass that counts is there, from the drawn `grass_area`, or filling the hex';
comment on column bob.strip.hides is 'Why it hides the ends, as `_hides` tells; ground_hides: by the ground alone';
comment on column bob.strip.woods_hide is 'Woods in this hex would hide the ends';

create or replace function bob._artwork(map_id bigint, terrain text, hex public.geometry)
returns table (n integer)
language sql stable parallel safe rows 1
as $$
  select area.n
  from public.terrain_area as area
  where area.map_id = _artwork.map_id
    and area.terrain = _artwork.terrain
    and public.st_intersects(area.geom, _artwork.hex)
    and public.st_relate(area.geom, _artwork.hex, 'T********')
$$;

comment on function bob._artwork(bigint, text, public.geometry) is
'The drawn areas of a terrain that lie in a hex; where there is none, the terrain is taken to fill it.';

create or replace function bob._crests(map_id bigint, hex public.geometry)
returns table (n integer)
language sql stable parallel safe rows 1
as $$
  select crest.n
  from public.crest
  where crest.map_id = _crests.map_id
    and public.st_intersects(crest.geom, _crests.hex)
    and public.st_relate(crest.geom, _crests.hex, 'T********')
$$;

comment on function bob._crests(bigint, public.geometry) is
'The crest lines that are drawn inside a hex.';

create or replace function bob._bordering_hexes(state positions.state, thread bob.thread)
returns setof bob.bordering_hex
language sql stable parallel safe rows 20
as $$
  select
    cell.n,
    cell.kind,
    cell.enter,
    cell.leave,
    beside.flank,
    cell.q,
    cell.r,
    cell.label,
    cell.terrain,
    cell.sight,
    cell.level,
    cell.crested,
    cell.fills,
    cell.upper
  from (
    select
      line.n::integer,
      line.kind,
      bob._mark(line.enter, line.den) as enter,
      bob._mark(line.leave, line.den) as leave,
      -- of a spine's two hexes each lies on one flank
      case
        when line.kind = 'spine'
          then case
            when (
              (thread.to_q - thread.q) * (2 * (line.r1 - thread.r) + line.q1 - thread.q)
              > (2 * (thread.to_r - thread.r) + thread.to_q - thread.q) * (line.q1 - thread.q)
            ) = place.first then 1
            else -1
          end
      end as flank,
      hex.q,
      hex.r,
      hex.label,
      hex.terrain,
      ground.sight,
      bob._level(hex.terrain, hex.level) as level,
      exists (select from bob._crests(state.map_id, hex.geom)) as crested,
      ground.sight in ('blocks', 'hinders', 'blocks_at_second')
      and not exists (select from bob._artwork(state.map_id, hex.terrain, hex.geom)) as fills,
      hex.terrain in ('stone_building', 'wooden_building')
      and exists (
        select
        from public.marker
        where marker.position_id = state.position_id
          and marker.q = hex.q
          and marker.r = hex.r
          and marker.kind = 'upper_level'
      ) as upper
    from lattice.line(thread.q, thread.r, thread.to_q, thread.to_r) as line
    cross join lateral (values (true, line.q1, line.r1), (false, line.q2, line.r2)) as place (first, q, r)
    left join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
    left join public.terrain as ground on ground.ruleset = 'bob' and ground.code = hex.terrain
    where line.kind = 'spine'
      or (line.kind = 'hex' and place.first)
    -- a hex is looked at once, not for each flank
    offset 0
  ) as cell
  inner join (values (1), (-1)) as beside (flank) on beside.flank = coalesce(cell.flank, beside.flank)
$$;

comment on function bob._bordering_hexes(positions.state, bob.thread) is
'The intervening hexes of a thread, each on its flank.';

create or replace function bob._covers(state positions.state, thread bob.thread)
returns setof bob.cover
language sql stable parallel safe rows 10
as $$
  select
    stretch.n,
    stretch.terrain,
    stretch.sight,
    stretch.flank,
    stretch.mark,
    stretch.next
  from (
    select
      area.n,
      area.terrain,
      ground.sight,
      crossing.flank,
      crossing.mark,
      lead(crossing.mark) over beside as next,
      row_number() over beside as crossed
    from public.terrain_area as area
    inner join public.terrain as ground
      on ground.ruleset = 'bob'
        and ground.code = area.terrain
        and ground.sight in ('blocks', 'hinders')
    cross join lateral bob._crossings(thread, area.geom) as crossing
    where area.map_id = state.map_id
      and public.st_intersects(area.geom, bob._line(thread))
    window beside as (partition by area.n, crossing.flank order by crossing.mark)
  ) as stretch
  -- an outline is entered and left by turns
  where stretch.crossed % 2 = 1
    and stretch.mark < stretch.next
$$;

comment on function bob._covers(positions.state, bob.thread) is
'The drawn areas beside a thread that block or hinder sight.';

create or replace function bob._crest_crossings(state positions.state, thread bob.thread)
returns setof bob.crossing
language sql stable parallel safe rows 4
as $$
  select crossing.*
  from (
    select crossing.*
    from public.crest
    cross join lateral bob._crossings(thread, crest.geom) as crossing
    where crest.map_id = state.map_id
      and public.st_intersects(crest.geom, bob._line(thread))
    -- else every edge has its mark reckoned
    offset 0
  ) as crossing
  where crossing.mark between 0 and 1e60
$$;

comment on function bob._crest_crossings(positions.state, bob.thread) is
'Where a thread crosses crest lines between its ends.';

create or replace function bob._known_levels(
  state positions.state, thread bob.thread, hexes bob.bordering_hex[]
)
returns setof bob.known_level
language sql stable parallel safe rows 10
as $$
  select
    beside.flank,
    place.enter,
    place.leave,
    bob._level(hex.terrain, hex.level)
  from (
    values (thread.q, thread.r, -1, 0), (thread.to_q, thread.to_r, 1e60, 2e60)
  ) as place (q, r, enter, leave)
  cross join (values (1), (-1)) as beside (flank)
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
  union all
  select
    hex.flank,
    hex.enter,
    hex.leave,
    hex.level
  from unnest(hexes) as hex
  where not hex.crested
    and hex.level is not null
$$;

comment on function bob._known_levels(positions.state, bob.thread, bob.bordering_hex[]) is
'Where along a thread the level is known for certain: at the two ends, and in hexes without a crest line.';

create or replace function bob._cuts(
  hexes bob.bordering_hex[], covers bob.cover[], crests bob.crossing[]
)
returns table (n integer, enter numeric, leave numeric)
language sql immutable parallel safe rows 20
as $$
  select
    cut.n,
    cut.mark,
    cut.next
  from (
    select
      bound.n,
      bound.mark,
      lead(bound.mark) over (partition by bound.n order by bound.mark) as next
    from (
      select hex.n, hex.enter as mark from unnest(hexes) as hex
      union
      select hex.n, hex.leave from unnest(hexes) as hex
      union
      select
        hex.n,
        edge.mark
      from unnest(hexes) as hex
      inner join (
        select cover.enter as mark from unnest(covers) as cover
        union all
        select cover.leave from unnest(covers) as cover
        union all
        select crest.mark from unnest(crests) as crest
      ) as edge on edge.mark > hex.enter and edge.mark < hex.leave
    ) as bound
  ) as cut
  where cut.next is not null
$$;

comment on function bob._cuts(bob.bordering_hex[], bob.cover[], bob.crossing[]) is
'The strips of a thread: from one mark where anything begins or ends on either flank to the next, cell by cell.';

create or replace function bob._crest_level(
  hex bob.bordering_hex, enter numeric, leave numeric, known bob.known_level[], crests bob.crossing[]
)
returns table (level integer)
language sql immutable parallel safe rows 1
as $$
  select
    case
      when hex.crested then greatest(
        (
          select
            before.level + (
              select coalesce(sum(crest.rises), 0)
              from unnest(crests) as crest
              where crest.flank = hex.flank
                and crest.mark between before.leave and _crest_level.enter
            )
          from unnest(known) as before
          where before.flank = hex.flank
            and before.leave <= _crest_level.enter
          order by before.leave desc
          limit 1
        ),
        (
          select
            after.level - (
              select coalesce(sum(crest.rises), 0)
              from unnest(crests) as crest
              where crest.flank = hex.flank
                and crest.mark between _crest_level.leave and after.enter
            )
          from unnest(known) as after
          where after.flank = hex.flank
            and after.enter >= _crest_level.leave
          order by after.enter
          limit 1
        )
      )
    end::integer
$$;

comment on function bob._crest_level(
  bob.bordering_hex, numeric, numeric, bob.known_level[], bob.crossing[]
) is
'How high a strip of a hex with a crest line lies, by the crests between it and where the level is known.';

create or replace function bob._cover(
  hex bob.bordering_hex, enter numeric, leave numeric, covers bob.cover[]
)
returns table (terrain text, area integer, height integer)
language sql immutable parallel safe rows 1
as $$
  select
    stands.terrain,
    stands.area,
    -- 40.2: with an upper level a building is as high as a Level 2 Hill
    case when hex.upper and stands.terrain in ('stone_building', 'wooden_building') then 2 else 1 end
  from (
    select
      cover.terrain,
      cover.n as area
    from unnest(covers) as cover
    where cover.sight = 'blocks'
      and cover.flank = hex.flank
      and cover.enter <= _cover.enter
      and cover.leave >= _cover.leave
    union all
    select
      hex.terrain,
      null
    where hex.fills
      and hex.sight = 'blocks'
  ) as stands
  where hex.q is not null
  order by 3 desc, 2
  limit 1
$$;

comment on function bob._cover(bob.bordering_hex, numeric, numeric, bob.cover[]) is
'The highest of what stands on a strip and blocks sight, and how many levels it is high; no row where nothing does.';

create or replace function bob._grass(
  hex bob.bordering_hex, enter numeric, leave numeric, covers bob.cover[]
)
returns table (grass boolean, area integer)
language sql immutable parallel safe rows 1
as $$
  -- 46.0: grass counts where its artwork is crossed in a hex that has it on its centre dot
  select
    true,
    grown.area
  from (
    select cover.n as area
    from unnest(covers) as cover
    where cover.terrain = hex.terrain
      and cover.flank = hex.flank
      and cover.enter <= _grass.enter
      and cover.leave >= _grass.leave
    union all
    select null
    where hex.fills
  ) as grown
  where hex.terrain in ('wheat_field', 'kunai_grass')
  order by 2
  limit 1
$$;

comment on function bob._grass(bob.bordering_hex, numeric, numeric, bob.cover[]) is
'Whether grass that counts is on a strip; no row where there is none.';

create or replace function bob._strips(state positions.state, thread bob.thread)
returns setof bob.strip
language plpgsql stable parallel safe rows 40
as $$
declare
  hexes bob.bordering_hex[] := array(select hex from bob._bordering_hexes(state, thread) as hex);
  covers bob.cover[] := array(select cover from bob._covers(state, thread) as cover);
  crests bob.crossing[] := array(select crest from bob._crest_crossings(state, thread) as crest);
  known bob.known_level[];
begin
  if exists (select from unnest(hexes) as hex where hex.crested) then
    known := array(select stretch from bob._known_levels(state, thread, hexes) as stretch);
  end if;
  return query
  select
    strip.*,
    bob._hides(thread, strip.ground + strip.height, strip.near, strip.far),
    bob._hides(thread, strip.ground, strip.near, strip.far),
    bob._hides(thread, strip.level + 1, strip.near, strip.far) is not null
  from (
    select
      cut.n,
      hex.kind,
      cut.enter,
      cut.leave,
      hex.flank,
      hex.q,
      hex.r,
      hex.label,
      hex.terrain,
      hex.level,
      lattice.distance(hex.q, hex.r, thread.high_q, thread.high_r) as near,
      lattice.distance(hex.q, hex.r, thread.low_q, thread.low_r) as far,
      case
        when not hex.crested then hex.level
        -- 45.4: the bank beside a gully hex next to an end
        when hex.level < 0
          and 1 in (
            lattice.distance(hex.q, hex.r, thread.q, thread.r), lattice.distance(hex.q, hex.r, thread.to_q, thread.to_r)
          )
          then hex.level
        else crest.level
      end as ground,
      cover.terrain as cover,
      cover.area,
      coalesce(cover.height, 0) as height,
      coalesce(grass.grass, false) as grass,
      grass.area as grass_area
    from bob._cuts(hexes, covers, crests) as cut
    inner join unnest(hexes) as hex on hex.n = cut.n
    left join lateral bob._crest_level(hex, cut.enter, cut.leave, known, crests) as crest on true
    left join lateral bob._cover(hex, cut.enter, cut.leave, covers) as cover on true
    left join lateral bob._grass(hex, cut.enter, cut.leave, covers) as grass on true
    offset 0
  ) as strip;
end
$$;

comment on function bob._strips(positions.state, bob.thread) is
'A thread cut where anything begins or ends beside it: for each strip and flank the ground, what stands on it, grass.';
