-- needs: lattice/trace.sql, positions/place.sql
-- Line of sight in bob (Band of Brothers): 14, 40.2, 43.4, 43.7, 44 to 48, 50, 54, 55.2.
--
-- The thread is cut into strips wherever artwork, a crest line or a hex begins or ends
-- beside it, and each strip is looked at on both its flanks. `bob._strips` finds out what
-- lies there, `bob.los` tells it in words, a row for every rule that speaks; `bob.fan`
-- asks `bob.los` of every hex, so the two cannot disagree.
--
-- Exact. Artwork lies on the grid of 1/1024 lattice unit, so where an edge meets the
-- thread is a fraction of whole numbers. `bob._mark` writes it as a whole number in which
-- two places are the same, or one before the other, just when they are so in truth.
--
-- Ties. What counts is what shows on both sides of the thread over some length (14.0): the
-- edge of artwork, a spine with woods on one side, a corner point stop nothing, two woods
-- that meet along the thread do. Off the map nothing shows. A hedgerow or wall met at its
-- end counts if the thread goes from one of its hexes into the other there. Along a spine
-- the better Hindrance of the two hexes counts for the target (46.0), and a wall counts
-- along the thread as across it. Smoke counts even at a vertex (48.0).
--
-- Ground. A hex lies at its level up to its sides, unless a crest line is drawn inside it:
-- then the thread keeps the level it came in with until it crosses a crest, and where the
-- ways from its two ends do not agree, the higher one counts. A gully's bank inside a gully
-- hex next to an end hides nothing (45.4); an anti-tank ditch is drawn as a gully (54.5).
-- Between levels a hedgerow blocks where woods in each of its two hexes would (44.0).

create or replace function bob._readings(position_id bigint, policy jsonb)
returns table (grass text, below text)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(chosen.policy ->> 'bob-3', ruleset.presets ->> 'bob-3'),
    coalesce(chosen.policy ->> 'bob-33', ruleset.presets ->> 'bob-33')
  from public.position
  cross join lateral (select coalesce(_readings.policy, position.policy) as policy) as chosen
  inner join public.ruleset on ruleset.code = 'bob'
  where position.id = _readings.position_id
$$;

comment on function bob._readings(bigint, jsonb) is
'The readings in force for the contested points that sight turns on.';

create or replace function bob._level(terrain text, level integer)
returns integer
language sql immutable parallel safe
return case when terrain = 'gully' then least(level, -1) else level end;

comment on function bob._level(text, integer) is
'The level of a hex''s centre dot: a gully is Level -1 (45.4).';

create or replace function bob._mark(num numeric, den numeric)
returns numeric
language sql immutable strict parallel safe
return div(num * 1e60, den);

comment on function bob._mark(numeric, numeric) is
'A place num/den of the way along a thread, as a whole number: equal or ordered just as the fractions are.';

create or replace function bob._way(t1 numeric, t2 numeric)
returns text
language sql immutable strict parallel safe
return format('from %s to %s of the way', round(t1 / 1e60, 3), round(t2 / 1e60, 3));

comment on function bob._way(numeric, numeric) is
'Two marks in words, rounded: for a note, never for a ruling.';

create or replace function bob._crossings(
  aq integer, ar integer, tq integer, tr integer, geom public.geometry
)
returns table (flank integer, mark numeric, rises integer)
language sql immutable parallel safe rows 4
as $$
  -- Just beside the thread an edge is crossed if one of its ends, but not the other, lies
  -- farther to that side; the limit of that crossing is where the edge meets the thread.
  select
    beside.flank,
    bob._mark(
      edge.along2::numeric * edge.off1 - edge.along1::numeric * edge.off2,
      (edge.off1 - edge.off2)::numeric * (1024 * (edge.dx * edge.dx + edge.dy * edge.dy))
    ),
    sign(edge.off2 - edge.off1)::integer
  from (
    select
      ray.dx,
      ray.dy,
      ray.dx * point.y1 - ray.dy * point.x1 as off1,
      ray.dx * point.y2 - ray.dy * point.x2 as off2,
      ray.dx * point.x1 + ray.dy * point.y1 as along1,
      ray.dx * point.x2 + ray.dy * point.y2 as along2
    from (
      select
        3 * (tq - aq)::bigint as dx,
        2 * (tr - ar)::bigint + (tq - aq) as dy
    ) as ray
    cross join public.st_dumpsegments(_crossings.geom) as segment
    cross join lateral (
      select
        (1024 * public.st_x(public.st_startpoint(segment.geom)))::bigint - 3072 * aq as x1,
        (1024 * public.st_y(public.st_startpoint(segment.geom)))::bigint - 1024 * (2 * ar + aq) as y1,
        (1024 * public.st_x(public.st_endpoint(segment.geom)))::bigint - 3072 * aq as x2,
        (1024 * public.st_y(public.st_endpoint(segment.geom)))::bigint - 1024 * (2 * ar + aq) as y2
    ) as point
    offset 0
  ) as edge
  cross join (values (1), (-1)) as beside (flank)
  where (edge.off1 * beside.flank > 0) <> (edge.off2 * beside.flank > 0)
$$;

comment on function bob._crossings(integer, integer, integer, integer, public.geometry) is
'Where drawn edges cross the thread as seen from either flank; rises: 1 where it comes to the left of the edge.';

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

create or replace function bob._is_drawn(map_id bigint, terrain text, hex public.geometry)
returns boolean
language sql stable parallel safe
return exists (
  select
  from public.terrain_area as area
  where area.map_id = _is_drawn.map_id
    and area.terrain = _is_drawn.terrain
    and public.st_intersects(area.geom, _is_drawn.hex)
    and public.st_relate(area.geom, _is_drawn.hex, 'T********')
);

comment on function bob._is_drawn(bigint, text, public.geometry) is
'Whether some artwork of a terrain lies in a hex; where none does, the terrain is taken to fill it.';

create or replace function bob._is_crested(map_id bigint, hex public.geometry)
returns boolean
language sql stable parallel safe
return exists (
  select
  from public.crest
  where crest.map_id = _is_crested.map_id
    and public.st_intersects(crest.geom, _is_crested.hex)
    and public.st_relate(crest.geom, _is_crested.hex, 'T********')
);

comment on function bob._is_crested(bigint, public.geometry) is
'Whether a crest line is drawn inside a hex.';

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
    coalesce(bob._is_crested(_flanks.map_id, hex.geom), false),
    ground.sight in ('blocks', 'hinders', 'blocks_at_second')
    and not bob._is_drawn(_flanks.map_id, hex.terrain, hex.geom),
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
      or sign(
        (tq - aq) * 3 * (2 * (line.r1 - ar) + line.q1 - aq)
        - (2 * (tr - ar) + tq - aq) * 3 * (line.q1 - aq)
      ) = beside.flank as first
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

create or replace function bob._hides(
  top integer, high integer, low integer, near integer, far integer
)
returns text
language sql immutable parallel safe
return case
  -- 14.0, 47.2
  when top > high then 'higher'
  -- 47.2: level with an end, toward lower ground
  when top = high and high > low then 'level'
  -- 47.2: blind hexes behind it: its distance from the higher end, less the levels it lies below that
  when top > low and top < high and far <= near - (high - top) then 'blind'
end;

comment on function bob._hides(integer, integer, integer, integer, integer) is
'Why terrain of a height hides the ends of a thread from each other; near is from the higher end, far from the lower.';

create or replace function bob._end(position_id bigint, name text)
returns table (
  map_id bigint,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  upper boolean,
  in_cave boolean,
  front integer,
  vehicle boolean,
  lit boolean
)
language sql stable parallel safe rows 1
as $$
  select
    hex.map_id,
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    case
      -- 43.4: as high as the higher hex before its mouth
      when state.in_cave and cave.facing is not null then (
        select max(bob._level(front.terrain, front.level))
        from lattice.neighbours(hex.q, hex.r) as beside
        inner join public.hex as front
          on front.map_id = hex.map_id and front.q = beside.nq and front.r = beside.nr
        where beside.direction in (cave.facing, cave.facing % 6 + 1)
      )
      -- 40.2
      when state.upper then bob._level(hex.terrain, hex.level) + 1
      else bob._level(hex.terrain, hex.level)
    end,
    state.upper,
    state.in_cave,
    cave.facing::integer,
    coalesce(unit.kind in ('vehicle', 'carrier'), false),
    -- 50.1: in the hex of an illumination counter or next to it
    exists (
      select
      from public.marker
      where marker.position_id = _end.position_id
        and marker.kind = 'illumination'
        and lattice.distance(marker.q, marker.r, hex.q, hex.r) <= 1
    )
  from public.position
  cross join lateral positions.place(_end.position_id, _end.name) as place
  inner join public.hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
  left join public.unit on unit.id = place.unit
  cross join lateral (
    select
      coalesce((place.attributes ->> 'upper_level')::boolean, false) as upper,
      coalesce((place.attributes ->> 'in_cave')::boolean, false) as in_cave
  ) as state
  left join lateral (
    select marker.facing
    from public.marker
    where marker.position_id = _end.position_id
      and marker.q = hex.q
      and marker.r = hex.r
      and marker.kind = 'cave'
      and marker.facing is not null
    limit 1
  ) as cave on true
  where position.id = _end.position_id
$$;

comment on function bob._end(bigint, text) is
'One end of a thread: its hex, the level it sees from, and whether it is upstairs, in a cave or lit.';

create or replace function bob._through_front(
  aq integer, ar integer, front integer, tq integer, tr integer
)
returns boolean
language sql stable parallel safe
return exists (
  select
  from lattice.neighbours(aq, ar) as beside
  where beside.direction in (front, front % 6 + 1)
    and (
      (beside.nq = tq and beside.nr = tr)
      or exists (
        select
        from lattice.line(aq, ar, tq, tr) as line
        where line.kind in ('hex', 'spine')
          and ((line.q1, line.r1) = (beside.nq, beside.nr) or (line.q2, line.r2) = (beside.nq, beside.nr))
      )
    )
);

comment on function bob._through_front(integer, integer, integer, integer, integer) is
'Whether a thread leaves a cave through one of its two front hexes, along their sides included (43.4).';

create or replace function bob._one_building(
  map_id bigint, aq integer, ar integer, tq integer, tr integer
)
returns boolean
language sql stable parallel safe
as $$
  with recursive room as (
    select
      hex.q,
      hex.r,
      hex.terrain,
      hex.geom
    from public.hex
    where hex.map_id = _one_building.map_id
      and hex.q = aq
      and hex.r = ar
      and hex.terrain in ('stone_building', 'wooden_building')
    union
    select
      next.q,
      next.r,
      next.terrain,
      next.geom
    from room
    cross join lateral lattice.neighbours(room.q, room.r) as beside
    inner join public.hex as next
      on next.map_id = _one_building.map_id
        and next.q = beside.nq
        and next.r = beside.nr
        and next.terrain = room.terrain
    where exists (
      select
      from public.terrain_area as area
      where area.map_id = _one_building.map_id
        and area.terrain = room.terrain
        and public.st_intersects(area.geom, room.geom)
        and public.st_intersects(area.geom, next.geom)
        and public.st_relate(area.geom, room.geom, 'T********')
        and public.st_relate(area.geom, next.geom, 'T********')
    )
    or not (
      bob._is_drawn(_one_building.map_id, room.terrain, room.geom)
      or bob._is_drawn(_one_building.map_id, next.terrain, next.geom)
    )
  )
  select exists (select from room where room.q = tq and room.r = tr)
$$;

comment on function bob._one_building(bigint, integer, integer, integer, integer) is
'Whether two hexes hold one building: joined by its artwork or, where none is drawn, side by side.';

create or replace function bob._whole_line(
  a bob.sight_end, t bob.sight_end, away integer, now jsonb
)
returns table (rule text, at text, effect text, note text)
language sql stable parallel safe rows 3
as $$
  select
    fact.rule,
    fact.at,
    fact.effect,
    fact.note
  from (
    values
    (
      away = 0 and a.in_cave <> t.in_cave,
      '43.4', t.label, 'blocks', 'a cave and the ground above it do not see each other'
    ),
    (
      away = 0 and a.upper <> t.upper,
      '40.2', t.label, 'passes', 'two levels of one hex see each other, one hex apart'
    ),
    (
      away > 0 and a.upper <> t.upper and bob._one_building(a.map_id, a.q, a.r, t.q, t.r),
      '40.2', t.label, 'blocks', 'another level of the same building in another hex'
    ),
    (away = 1, '14.0', t.label, 'passes', 'nothing lies between adjacent hexes'),
    (
      now ->> 'weather' = 'monsoon',
      '55.2', t.label, case when away > 3 then 'blocks' else 'passes' end, 'in the deluge three hexes are the limit'
    ),
    (
      now -> 'night' is not null,
      case
        when away <= (now -> 'night' ->> 'visibility')::integer then '50.0'
        when t.lit and now ->> 'weather' is distinct from 'monsoon' then '50.1'
        else '50.2'
      end,
      t.label,
      case
        when away <= (now -> 'night' ->> 'visibility')::integer then 'passes'
        when t.lit and now ->> 'weather' is distinct from 'monsoon' then 'passes'
        else 'blocks'
      end,
      case
        when away <= (now -> 'night' ->> 'visibility')::integer then 'within the Visibility Range'
        when t.lit and now ->> 'weather' is distinct from 'monsoon' then format('%s is illuminated', t.label)
        else format('beyond the Visibility Range of %s and not illuminated', now -> 'night' ->> 'visibility')
      end
    )
  ) as fact (holds, rule, at, effect, note)
  where fact.holds
  union all
  select
    '45.3',
    this.label,
    case when away <= 1 or other.level > this.level then 'passes' else 'blocks' end,
    case
      when away <= 1 then 'a unit in a stream sees adjacent hexes'
      when other.level > this.level then 'from a stream higher ground is seen'
      else 'a unit in a stream sees only adjacent hexes and higher ground'
    end
  from (values (a, t), (t, a)) as pair (this, other)
  cross join lateral (select (pair.this).*) as this
  cross join lateral (select (pair.other).*) as other
  where this.terrain = 'stream'
    and away > 0
  union all
  select
    '43.4',
    this.label,
    case
      when this.front is null then 'unknown'
      when bob._through_front(this.q, this.r, this.front, other.q, other.r) then 'passes'
      else 'blocks'
    end,
    case
      when this.front is null then format('the facing of the cave in %s', this.label)
      when bob._through_front(this.q, this.r, this.front, other.q, other.r) then 'the line goes through a front hex of the cave'
      else 'a cave is seen only through its two front hexes'
    end
  from (values (a, t), (t, a)) as pair (this, other)
  cross join lateral (select (pair.this).*) as this
  cross join lateral (select (pair.other).*) as other
  where this.in_cave
    and away > 0
$$;

