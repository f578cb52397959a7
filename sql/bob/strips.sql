-- needs: bob/thread.sql, maps/drawn.sql, positions/state.sql
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
  upper boolean,
  ridge boolean
);

comment on type bob.bordering_hex is
'An intervening hex as a thread has it on one flank: a hex that is crossed lies on both, those of a spine on one each.';
comment on column bob.bordering_hex.n is 'The cell of the line, in order of entry';
comment on column bob.bordering_hex.label is 'Null off the map, as all that follows';
comment on column bob.bordering_hex.sight is 'What its terrain does to sight';
comment on column bob.bordering_hex.crested is 'A crest line is drawn inside it';
comment on column bob.bordering_hex.fills is 'Its terrain bears on sight, is not drawn, and is taken to fill it';
comment on column bob.bordering_hex.upper is 'It is a building with an upper level';
comment on column bob.bordering_hex.ridge is 'It has the feature ridge';

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
    cell.upper,
    cell.ridge
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
      place.q,
      place.r,
      hex.label,
      hex.terrain,
      ground.sight,
      bob._level(hex.terrain, hex.level) as level,
      hex.crests <> '{}' as crested,
      ground.sight in ('blocks', 'hinders', 'blocks_at_second')
      and not hex.drawn as fills,
      hex.terrain in ('stone_building', 'wooden_building')
      and exists (
        select
        from public.marker
        where marker.position_id = state.position_id
          and marker.q = hex.q
          and marker.r = hex.r
          and marker.kind = 'upper_level'
      ) as upper,
      hex.ridge
    from lattice.line(thread.q, thread.r, thread.to_q, thread.to_r) as line
    cross join lateral (values (true, line.q1, line.r1), (false, line.q2, line.r2)) as place (first, q, r)
    left join public.drawn_hex as hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
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

create or replace function bob._crossings(map_id bigint, thread bob.thread, qs integer[], rs integer[])
returns setof bob.crossing
language sql stable parallel safe rows 20
as $$
  -- Just beside the thread an edge is crossed if one of its ends, but not the other, lies
  -- farther to that side; the limit of that crossing is where the edge meets the thread.
  select
    met.crest,
    met.n,
    beside.flank,
    met.first,
    case when met.off2 > met.off1 then 1 else -1 end
  from maps._one_line_meetings(_crossings.map_id, thread.q, thread.r, thread.to_q, thread.to_r, qs, rs) as met
  inner join (values (1), (-1)) as beside (flank)
    on (met.off1 * beside.flank > 0) <> (met.off2 * beside.flank > 0)
  -- an area that begins at the very dot is reckoned with the dot
  where met.first >= case when met.crest then 0 else 1 end
$$;

comment on function bob._crossings(bigint, bob.thread, integer[], integer[]) is
'Where drawn edges cross a thread between its ends, on either flank; by the edges that are kept of the hexes on its way.';

create or replace function bob._beginnings(map_id bigint, thread bob.thread)
returns bob.crossing[]
language plpgsql stable parallel safe
as $$
declare
  hex public.drawn_hex;
  begun bob.crossing[];
begin
  select * into hex
  from public.drawn_hex as dot
  where dot.map_id = _beginnings.map_id
    and dot.q = thread.q
    and dot.r = thread.r;
  if hex.within <> '{}' then
    begun := array(
      select row(false, area.n, beside.flank, 0, -1)::bob.crossing
      from unnest(hex.within) as area (n)
      cross join (values (1), (-1)) as beside (flank)
    );
  end if;
  if hex.brink <> '{}' then
    begun := begun || array(
      select
        row(
          false, area.n, beside.flank, 0, -case beside.flank when 1 then area.leftward else area.rightward end
        )::bob.crossing
      from maps._beginnings(
        _beginnings.map_id, thread.q, thread.r, '{1}', array[thread.to_q], array[thread.to_r], hex.brink
      ) as area
      cross join (values (1), (-1)) as beside (flank)
    );
  end if;
  return begun;
end
$$;

comment on function bob._beginnings(bigint, bob.thread) is
'The areas that a thread begins in, on either flank, as if they were entered there.';

create or replace function bob._covers(state positions.state, thread bob.thread, crossings bob.crossing[])
returns setof bob.cover
language sql stable parallel safe rows 10
as $$
  select
    stretch.n,
    area.terrain,
    ground.sight,
    stretch.flank,
    stretch.mark,
    stretch.next
  from (
    select
      turn.n,
      turn.flank,
      turn.mark,
      lead(turn.mark, 1, 2e60) over way as next,
      sum(turn.enters) over way as inside
    from (
      select crossing.n, crossing.flank, crossing.mark, -sum(crossing.rises)::integer as enters
      from unnest(crossings) as crossing
      where not crossing.crest
      group by crossing.n, crossing.flank, crossing.mark
    ) as turn
    window way as (partition by turn.n, turn.flank order by turn.mark)
  ) as stretch
  cross join lateral (
    select area.terrain
    from public.terrain_area as area
    where area.map_id = state.map_id
      and area.n = stretch.n
    offset 0
  ) as area
  inner join public.terrain as ground
    on ground.ruleset = 'bob'
      and ground.code = area.terrain
      and ground.sight in ('blocks', 'hinders')
  where stretch.inside > 0
  order by stretch.n
$$;

comment on function bob._covers(positions.state, bob.thread, bob.crossing[]) is
'The drawn areas beside a thread that block or hinder sight, by their numbers.';

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

create or replace function bob._standing(
  hex bob.bordering_hex, enter numeric, leave numeric, covers bob.cover[]
)
returns table (area bigint, filled boolean, height integer, grass_area bigint, grass boolean)
language sql stable parallel safe rows 1
as $$
  select
    top.area,
    top.filled,
    case
      when top.area is null and not top.filled then 0
      -- 40.2: with an upper level a building is as high as a Level 2 Hill
      when hex.upper and (top.filled or top.area = beside.building) then 2
      else 1
    end,
    case when hex.terrain in ('wheat_field', 'kunai_grass') then beside.own end,
    -- 46.0: grass counts where its artwork is crossed in a hex that has it on its centre dot
    coalesce(hex.terrain in ('wheat_field', 'kunai_grass') and (beside.own is not null or hex.fills), false)
  from (
    select
      min(cover.i) filter (where cover.sight = 'blocks') as area,
      min(cover.i) filter (
        where cover.sight = 'blocks' and cover.terrain in ('stone_building', 'wooden_building')
      ) as building,
      min(cover.i) filter (where cover.terrain = hex.terrain) as own
    from unnest(covers) with ordinality as cover (n, terrain, sight, flank, enter, leave, i)
    where cover.flank = hex.flank
      and cover.enter <= _standing.enter
      and cover.leave >= _standing.leave
    -- once for each strip, not once for each use
    offset 0
  ) as beside
  cross join lateral (
    select
      case when hex.upper and (beside.building is not null or hex.fills) then beside.building else beside.area end as area
    where hex.label is not null
  ) as first
  cross join lateral (
    select
      first.area,
      first.area is null and coalesce(hex.fills and hex.sight = 'blocks', false) as filled
  ) as top
$$;

comment on function bob._standing(bob.bordering_hex, numeric, numeric, bob.cover[]) is
'The highest of what stands on a strip and blocks sight, how many levels it is high, and whether grass that counts is on it;
areas by their places among the covers. No row off the map.';

create or replace function bob._strips(
  state positions.state, thread bob.thread, hexes bob.bordering_hex[], crested boolean
)
returns setof bob.strip
language plpgsql stable parallel safe rows 40
set plan_cache_mode = force_generic_plan
as $$
declare
  qs integer[];
  rs integer[];
  crossings bob.crossing[];
  covers bob.cover[];
  marks numeric[];
  crests bob.crossing[];
  known bob.known_level[];
begin
  -- of the two hexes of a side that a thread runs along either has all edges that meet it
  select thread.q || (thread.to_q || array_agg(hex.q)), thread.r || (thread.to_r || array_agg(hex.r))
  into qs, rs
  from unnest(hexes) as hex
  where hex.flank = 1;
  crossings := bob._beginnings(state.map_id, thread)
    || array(select crossing from bob._crossings(state.map_id, thread, qs, rs) as crossing);
  covers := array(select cover from bob._covers(state, thread, crossings) as cover);
  marks := array(select distinct crossing.mark from unnest(crossings) as crossing);
  if crested then
    crests := array(select crossing from unnest(crossings) as crossing where crossing.crest);
    known := array(select stretch from bob._known_levels(state, thread, hexes) as stretch);
  end if;
  return query
  select
    strip.n,
    strip.kind,
    strip.enter,
    strip.leave,
    strip.flank,
    strip.q,
    strip.r,
    strip.label,
    strip.terrain,
    strip.level,
    strip.near,
    strip.far,
    strip.ground,
    case when strip.filled then strip.terrain else (covers[strip.area]).terrain end,
    (covers[strip.area]).n,
    strip.height,
    strip.grass,
    (covers[strip.grass_area]).n,
    bob._hides(thread, strip.ground + strip.height, strip.near, strip.far),
    bob._hides(thread, strip.ground, strip.near, strip.far),
    bob._hides(thread, strip.level + 1, strip.near, strip.far) is not null
  from (
    select
      hex.n,
      hex.kind,
      hex.mark as enter,
      hex.next as leave,
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
      standing.filled,
      standing.area,
      coalesce(standing.height, 0) as height,
      coalesce(standing.grass, false) as grass,
      standing.grass_area
    from (
      select
        hex.*,
        cut.mark,
        lead(cut.mark, 1, hex.leave) over (partition by hex.n, hex.flank order by cut.mark) as next
      from unnest(hexes) as hex
      cross join lateral unnest(array[hex.enter] || marks) with ordinality as cut (mark, i)
      where cut.i = 1
        or (cut.mark > hex.enter and cut.mark < hex.leave)
    ) as hex
    cross join lateral (
      select
        row(
          hex.n, hex.kind, hex.enter, hex.leave, hex.flank, hex.q, hex.r, hex.label, hex.terrain, hex.sight, hex.level, hex.crested,
          hex.fills, hex.upper, hex.ridge
        )::bob.bordering_hex as part
    ) as whole
    left join lateral bob._crest_level(whole.part, hex.mark, hex.next, known, crests) as crest on true
    left join lateral bob._standing(whole.part, hex.mark, hex.next, covers) as standing on true
    offset 0
  ) as strip;
end
$$;

comment on function bob._strips(positions.state, bob.thread, bob.bordering_hex[], boolean) is
'A thread cut where anything begins or ends beside it: for each strip and flank the ground, what stands on it, grass.';
