-- needs: bob/thread.sql
-- What lies beside a thread in bob (Band of Brothers), strip by strip: 14.0, 40.2, 45.4, 46.0.
--
-- The thread is cut into strips wherever artwork, a crest line or a hex begins or ends
-- beside it, and each strip is looked at on both its flanks.
--
-- Ground. A hex lies at its level up to its sides, unless a crest line is drawn inside it:
-- then the thread keeps the level it came in with until it crosses a crest, and where the
-- ways from its two ends do not agree, the higher one counts. A gully's bank inside a gully
-- hex next to an end hides nothing (45.4); an anti-tank ditch is drawn as a gully (54.5).

create or replace function bob._covered(
  map_id bigint, aq integer, ar integer, tq integer, tr integer
)
returns table (n integer, terrain text, flank integer, t1 numeric, t2 numeric)
language sql stable parallel safe rows 10
as $$
  select
    stretch.n,
    stretch.terrain,
    stretch.flank,
    stretch.mark,
    stretch.next
  from (
    select
      area.n,
      area.terrain,
      crossing.flank,
      crossing.mark,
      lead(crossing.mark) over beside as next,
      row_number() over beside as crossed
    from public.terrain_area as area
    cross join lateral bob._crossings(aq, ar, tq, tr, area.geom) as crossing
    where area.map_id = _covered.map_id
      and public.st_intersects(area.geom, public.st_makeline(lattice.center(aq, ar), lattice.center(tq, tr)))
    window beside as (partition by area.n, crossing.flank order by crossing.mark)
  ) as stretch
  -- an outline is entered and left by turns
  where stretch.crossed % 2 = 1
    and stretch.mark < stretch.next
$$;

comment on function bob._covered(bigint, integer, integer, integer, integer) is
'Which drawn areas lie beside a thread, on which flank, from where to where.';

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

create or replace function bob._flanks(
  position_id bigint, map_id bigint, aq integer, ar integer, tq integer, tr integer
)
returns table (
  n integer,
  kind text,
  t1 numeric,
  t2 numeric,
  flank integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  crested boolean,
  fills boolean,
  upper boolean
)
language sql stable parallel safe rows 20
as $$
  select
    line.n::integer,
    line.kind,
    bob._mark(line.enter, line.den),
    bob._mark(line.leave, line.den),
    beside.flank,
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    bob._level(hex.terrain, hex.level),
    exists (select from bob._crests(_flanks.map_id, hex.geom)),
    ground.sight in ('blocks', 'hinders', 'blocks_at_second')
    and not exists (select from bob._artwork(_flanks.map_id, hex.terrain, hex.geom)),
    hex.terrain in ('stone_building', 'wooden_building')
    and exists (
      select
      from public.marker
      where marker.position_id = _flanks.position_id
        and marker.q = hex.q
        and marker.r = hex.r
        and marker.kind = 'upper_level'
    )
  from lattice.line(aq, ar, tq, tr) as line
  cross join (values (1), (-1)) as beside (flank)
  cross join lateral (
    -- of a spine's two hexes each lies on one flank
    select
      line.kind = 'hex'
      or (
        (tq - aq) * (2 * (line.r1 - ar) + line.q1 - aq) > (2 * (tr - ar) + tq - aq) * (line.q1 - aq)
      ) = (beside.flank > 0) as first
  ) as which
  left join public.hex
    on hex.map_id = _flanks.map_id
      and hex.q = case when which.first then line.q1 else line.q2 end
      and hex.r = case when which.first then line.r1 else line.r2 end
  left join public.terrain as ground on ground.ruleset = 'bob' and ground.code = hex.terrain
  where line.kind in ('hex', 'spine')
$$;

comment on function bob._flanks(bigint, bigint, integer, integer, integer, integer) is
'The intervening hexes of a thread, each on its flank; fills: its terrain is not drawn and taken to fill it.';

create or replace function bob._strips(
  position_id bigint, map_id bigint, aq integer, ar integer, tq integer, tr integer
)
returns table (
  n integer,
  kind text,
  t1 numeric,
  t2 numeric,
  flank integer,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  ground integer,
  height integer,
  cover text,
  area integer,
  grass boolean,
  grass_area integer
)
language sql stable parallel safe rows 40
as $$
  with side as materialized (
    select * from bob._flanks(_strips.position_id, _strips.map_id, aq, ar, tq, tr)
  ),
  cover as materialized (
    select
      covered.*,
      ground.sight
    from bob._covered(_strips.map_id, aq, ar, tq, tr) as covered
    inner join public.terrain as ground on ground.ruleset = 'bob' and ground.code = covered.terrain
    where ground.sight in ('blocks', 'hinders')
  ),
  step as materialized (
    select crossing.*
    from public.crest
    cross join lateral bob._crossings(aq, ar, tq, tr, crest.geom) as crossing
    where crest.map_id = _strips.map_id
      and public.st_intersects(crest.geom, public.st_makeline(lattice.center(aq, ar), lattice.center(tq, tr)))
      and crossing.mark between 0 and 1e60
  ),
  -- where the level is known for certain: the two ends, and hexes without a crest
  known as materialized (
    select
      beside.flank,
      place.t1,
      place.t2,
      bob._level(hex.terrain, hex.level) as level
    from (values (aq, ar, -1, 0), (tq, tr, 1e60, 2e60)) as place (q, r, t1, t2)
    cross join (values (1), (-1)) as beside (flank)
    inner join public.hex on hex.map_id = _strips.map_id and hex.q = place.q and hex.r = place.r
    where exists (select from side where side.crested)
    union all
    select
      side.flank,
      side.t1,
      side.t2,
      side.level
    from side
    where not side.crested
      and side.level is not null
  ),
  bound as (
    select
      side.n,
      side.t1 as mark
    from side
    union
    select
      side.n,
      side.t2
    from side
    union
    select
      side.n,
      cut.mark
    from side
    inner join (
      select cover.flank, cover.t1 as mark from cover
      union all
      select cover.flank, cover.t2 from cover
      union all
      select step.flank, step.mark from step
    ) as cut on cut.mark > side.t1 and cut.mark < side.t2
  ),
  strip as (
    select
      bound.n,
      bound.mark as t1,
      lead(bound.mark) over (partition by bound.n order by bound.mark) as t2
    from bound
  )
  select
    strip.n,
    side.kind,
    strip.t1,
    strip.t2,
    side.flank,
    side.q,
    side.r,
    side.label,
    side.terrain,
    side.level,
    case
      when not side.crested then side.level
      -- 45.4: the bank beside a gully hex next to an end
      when side.level < 0
        and (lattice.distance(side.q, side.r, aq, ar) = 1 or lattice.distance(side.q, side.r, tq, tr) = 1)
        then side.level
      else greatest(before.level, after.level)
    end,
    coalesce(top.height, 0),
    top.cover,
    top.area,
    coalesce(grown.grass, false),
    grown.area
  from strip
  inner join side on side.n = strip.n
  left join lateral (
    select
      known.level + (
        select coalesce(sum(step.rises), 0)
        from step
        where step.flank = side.flank
          and step.mark >= known.t2
          and step.mark <= strip.t1
      ) as level
    from known
    where side.crested
      and known.flank = side.flank
      and known.t2 <= strip.t1
    order by known.t2 desc
    limit 1
  ) as before on true
  left join lateral (
    select
      known.level - (
        select coalesce(sum(step.rises), 0)
        from step
        where step.flank = side.flank
          and step.mark >= strip.t2
          and step.mark <= known.t1
      ) as level
    from known
    where side.crested
      and known.flank = side.flank
      and known.t1 >= strip.t2
    order by known.t1
    limit 1
  ) as after on true
  left join lateral (
    select
      stands.cover,
      stands.area,
      -- 40.2: with an upper level a building is as high as a Level 2 Hill
      case when side.upper and stands.cover in ('stone_building', 'wooden_building') then 2 else 1 end as height
    from (
      select
        cover.terrain as cover,
        cover.n as area
      from cover
      where cover.sight = 'blocks'
        and cover.flank = side.flank
        and cover.t1 <= strip.t1
        and cover.t2 >= strip.t2
      union all
      select
        side.terrain,
        null
      from public.terrain as ground
      where side.fills
        and ground.ruleset = 'bob'
        and ground.code = side.terrain
        and ground.sight = 'blocks'
    ) as stands
    where side.q is not null
    order by 3 desc, 2
    limit 1
  ) as top on true
  left join lateral (
    -- 46.0: grass counts where its artwork is crossed in a hex that has it on its centre dot
    select
      true as grass,
      held.area
    from (
      select cover.n as area
      from cover
      where cover.terrain = side.terrain
        and cover.flank = side.flank
        and cover.t1 <= strip.t1
        and cover.t2 >= strip.t2
      union all
      select null
      where side.fills
    ) as held
    where side.terrain in ('wheat_field', 'kunai_grass')
    order by 2
    limit 1
  ) as grown on true
  where strip.t2 is not null
$$;

comment on function bob._strips(bigint, bigint, integer, integer, integer, integer) is
'A thread cut where anything begins or ends beside it: for each strip and flank the ground, what stands on it, grass.';
