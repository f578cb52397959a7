-- needs: bob/strips.sql, positions/state.sql, rulings/step.sql
-- Line of sight in bob (Band of Brothers): 14, 40.2, 43.4, 43.7, 44 to 48, 50, 54, 55.2.
--
-- `bob._strips` finds out what lies beside the thread, `bob.los` tells it in words, a row for
-- every rule that speaks; `bob.fan` asks `bob.los` of every hex, so the two cannot disagree.
--
-- Ties. What counts is what shows on both sides of the thread over some length (14.0): the
-- edge of artwork, a spine with woods on one side, a corner point stop nothing, two woods
-- that meet along the thread do. Off the map nothing shows. A hedgerow or wall met at its
-- end counts if the thread goes from one of its hexes into the other there. Along a spine
-- the better Hindrance of the two hexes counts for the target (46.0), and a wall counts
-- along the thread as across it. Smoke counts even at a vertex (48.0). Between levels a
-- hedgerow blocks where woods in each of its two hexes would (44.0).

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
      from bob._artwork(_one_building.map_id, room.terrain, room.geom) as here
      inner join bob._artwork(_one_building.map_id, room.terrain, next.geom) as there on there.n = here.n
    )
    or not (
      exists (select from bob._artwork(_one_building.map_id, room.terrain, room.geom))
      or exists (select from bob._artwork(_one_building.map_id, room.terrain, next.geom))
    )
  )
  select exists (select from room where room.q = tq and room.r = tr)
$$;

comment on function bob._one_building(bigint, integer, integer, integer, integer) is
'Whether two hexes hold one building: joined by its artwork or, where none is drawn, side by side.';

create or replace function bob._one_ridge(
  map_id bigint, aq integer, ar integer, tq integer, tr integer
)
returns boolean
language sql stable parallel safe
as $$
  with recursive top as (
    select
      hex.q,
      hex.r
    from public.hex
    where hex.map_id = _one_ridge.map_id
      and hex.q = aq
      and hex.r = ar
      and 'ridge' = any(hex.features)
    union
    select
      hex.q,
      hex.r
    from top
    cross join lateral lattice.neighbours(top.q, top.r) as beside
    inner join public.hex on hex.map_id = _one_ridge.map_id and hex.q = beside.nq and hex.r = beside.nr
    where 'ridge' = any(hex.features)
  )
  select exists (select from top where top.q = tq and top.r = tr)
$$;

comment on function bob._one_ridge(bigint, integer, integer, integer, integer) is
'Whether two hexes lie on one ridge: joined by hexes with the feature `ridge` (54.2).';

create or replace function bob._whole_line(
  map_id bigint,
  aq integer, ar integer, alabel text, aterrain text, alevel integer, aupper boolean, acave boolean, afront integer,
  tq integer, tr integer, tlabel text, tterrain text, tlevel integer, tupper boolean, tcave boolean, tfront integer,
  lit boolean, visibility integer, deluge boolean
)
returns table (rule text, at text, effect text, note text)
language sql stable parallel safe rows 3
as $$
  with away as (
    select lattice.distance(aq, ar, tq, tr) as hexes
  ),
  -- the thread from either end
  looker (label, terrain, level, cave, front, q, r, other_level, other_q, other_r) as (
    values
    (alabel, aterrain, alevel, acave, afront, aq, ar, tlevel, tq, tr),
    (tlabel, tterrain, tlevel, tcave, tfront, tq, tr, alevel, aq, ar)
  )
  select
    fact.rule,
    tlabel,
    fact.effect,
    fact.note
  from away
  cross join lateral (
    values
    (away.hexes = 0 and acave <> tcave, '43.4', 'blocks', 'a cave and the ground above it do not see each other'),
    (away.hexes = 0 and aupper <> tupper, '40.2', 'passes', 'two levels of one hex see each other, one hex apart'),
    (
      away.hexes > 0 and aupper <> tupper and bob._one_building(_whole_line.map_id, aq, ar, tq, tr),
      '40.2', 'blocks', 'another level of the same building in another hex'
    ),
    (away.hexes = 1, '14.0', 'passes', 'nothing lies between two neighbouring hexes'),
    (
      deluge,
      '55.2', case when away.hexes > 3 then 'blocks' else 'passes' end, 'in the deluge three hexes are the limit'
    ),
    (away.hexes <= visibility, '50.0', 'passes', format('within the Visibility Range of %s', visibility)),
    (away.hexes > visibility and lit, '50.1', 'passes', format('%s is illuminated', tlabel)),
    (
      away.hexes > visibility and not lit,
      '50.2', 'blocks', format('beyond the Visibility Range of %s and not illuminated', visibility)
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
  union all
  select
    '45.3',
    looker.label,
    case when away.hexes <= 1 or looker.other_level > looker.level then 'passes' else 'blocks' end,
    case
      when away.hexes <= 1 then 'a unit in a stream sees adjacent hexes'
      when looker.other_level > looker.level then 'from a stream higher ground is seen'
      else 'a unit in a stream sees only adjacent hexes and higher ground'
    end
  from away
  cross join looker
  where looker.terrain = 'stream'
    and away.hexes > 0
  union all
  select
    '43.4',
    looker.label,
    case when looker.front is null then 'unknown' when through.front then 'passes' else 'blocks' end,
    case
      when looker.front is null then format('the facing of the cave in %s', looker.label)
      when through.front then 'the line goes through a front hex of the cave'
      else 'a cave is seen only through its two front hexes'
    end
  from away
  cross join looker
  cross join lateral (
    select bob._through_front(looker.q, looker.r, looker.front, looker.other_q, looker.other_r) as front
  ) as through
  where looker.cave
    and away.hexes > 0
$$;

comment on function bob._whole_line(
  bigint, integer, integer, text, text, integer, boolean, boolean, integer,
  integer, integer, text, text, integer, boolean, boolean, integer, boolean, integer, boolean
) is
'The rules that speak of a thread as a whole: night, deluge, streams, caves, levels of a building.';

create or replace function bob._obstacles(
  position_id bigint,
  map_id bigint,
  aq integer,
  ar integer,
  alevel integer,
  tq integer,
  tr integer,
  tlevel integer,
  grass_reading text,
  below_reading text,
  at_vehicle boolean
)
returns table (mark numeric, rule text, at text, effect text, note text, point text, counts integer)
language plpgsql stable parallel safe rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with view as (
    select
      greatest(alevel, tlevel) as high,
      least(alevel, tlevel) as low,
      case when alevel >= tlevel then aq else tq end as hq,
      case when alevel >= tlevel then ar else tr end as hr,
      case when alevel >= tlevel then tq else aq end as lq,
      case when alevel >= tlevel then tr else ar end as lr
  ),
  strip as materialized (
    select
      strip.*,
      bob._hides(strip.ground + strip.height, view.high, view.low, span.near, span.far) as hides,
      bob._hides(strip.ground, view.high, view.low, span.near, span.far) as ground_hides,
      bob._hides(strip.level + 1, view.high, view.low, span.near, span.far) is not null as woods_hide,
      span.near,
      span.far
    from view
    cross join bob._strips(_obstacles.position_id, _obstacles.map_id, aq, ar, tq, tr) as strip
    cross join lateral (
      select
        lattice.distance(strip.q, strip.r, view.hq, view.hr) as near,
        lattice.distance(strip.q, strip.r, view.lq, view.lr) as far
    ) as span
  ),
  judged as (
    select
      strip.*,
      count(strip.hides) over shared as flanks_hidden,
      min(strip.ground + strip.height) over shared as top
    from strip
    window shared as (partition by strip.n, strip.t1)
  ),
  -- what shows on both sides of the thread, on one side, or is seen over
  stood as (
    select
      judged.n,
      min(judged.t1) as t1,
      max(judged.t2) as t2,
      judged.label,
      judged.ground,
      case when told.needs_cover then judged.cover end as cover,
      case when told.needs_cover then judged.area end as area,
      told.hides,
      case
        when judged.flanks_hidden = 2 then 'blocks'
        when judged.hides is not null then 'graze'
        else 'passes'
      end as effect,
      min(judged.near) as near,
      min(judged.near) - (view.high - min(judged.top)) as blind
    from judged
    cross join view
    cross join lateral (
      select
        case
          when judged.flanks_hidden = 2
            then bob._hides(judged.top, view.high, view.low, judged.near, judged.far)
        end as hides
    ) as verdict
    cross join lateral (
      -- what stands on the ground is named where the ground alone would not do it
      select
        verdict.hides,
        judged.ground_hides is null or judged.ground_hides is distinct from verdict.hides as needs_cover
    ) as told
    where judged.hides is not null
      or judged.cover is not null
      or judged.ground > view.low
    group by 1, 4, 5, 6, 7, 8, 9, view.high
  ),
  hedge as (
    select
      line.n,
      bob._mark(line.enter, line.den) as mark,
      hexside.kind,
      line.kind = 'spine' as along,
      line.of_start or line.of_target as beside_end,
      greatest(bob._level(one.terrain, one.level), bob._level(two.terrain, two.level)) as level,
      positions.side_label(one.label, two.label) as label,
      coalesce(first.hides, second.hides) is not null
      and coalesce(second.hides, first.hides) is not null
      and (one.q is null or first.hides is not null)
      and (two.q is null or second.hides is not null) as hides
    from view
    cross join lattice.line(aq, ar, tq, tr) as line
    inner join public.hexside
      on hexside.map_id = _obstacles.map_id
        and hexside.x = line.x
        and hexside.y = line.y
    left join public.hex as one
      on one.map_id = _obstacles.map_id and one.q = line.q1 and one.r = line.r1
    left join public.hex as two
      on two.map_id = _obstacles.map_id and two.q = line.q2 and two.r = line.r2
    cross join lateral (
      select
        bob._hides(
          bob._level(one.terrain, one.level) + 1, view.high, view.low,
          lattice.distance(one.q, one.r, view.hq, view.hr), lattice.distance(one.q, one.r, view.lq, view.lr)
        ) as hides
    ) as first
    cross join lateral (
      select
        bob._hides(
          bob._level(two.terrain, two.level) + 1, view.high, view.low,
          lattice.distance(two.q, two.r, view.hq, view.hr), lattice.distance(two.q, two.r, view.lq, view.lr)
        ) as hides
    ) as second
    where line.kind = 'spine'
      or (line.kind in ('side', 'end') and line.crossed)
  ),
  -- a ridge is less than a level high: it counts between Level 0 only (54.2)
  ridge as (
    select
      min(strip.t1) as mark,
      positions.side_label(min(strip.label), max(strip.label)) as label,
      bool_or(
        bob._one_ridge(_obstacles.map_id, aq, ar, strip.q, strip.r)
        or bob._one_ridge(_obstacles.map_id, tq, tr, strip.q, strip.r)
      ) as own
    from strip
    inner join public.hex
      on hex.map_id = _obstacles.map_id
        and hex.q = strip.q
        and hex.r = strip.r
        and 'ridge' = any(hex.features)
    group by strip.n
    having count(distinct strip.flank) = 2
  ),
  -- walls, roadblocks and dike roads: one Hindrance in all (46.1)
  low_wall as (
    select
      hedge.n,
      hedge.mark,
      hedge.label,
      replace(hedge.kind, '_', ' ') as name,
      hedge.level,
      hedge.beside_end
    from hedge
    where hedge.kind in ('wall', 'roadblock')
    union all
    select distinct on (strip.n)
      strip.n,
      strip.t1,
      strip.label,
      'dike road',
      strip.level,
      false
    from strip
    inner join public.path
      on path.map_id = _obstacles.map_id
        and path.kind = 'dike_road'
        and public.st_intersects(path.geom, lattice.center(strip.q, strip.r))
    order by 1, 5 desc, 3
  ),
  walled as (
    select
      low_wall.*,
      case
        when low_wall.beside_end then 'end'
        when alevel <> tlevel then 'levels'
        when low_wall.level < view.high and below_reading = 'a' then 'below'
        else 'counts'
      end as how,
      case when not low_wall.beside_end and alevel = tlevel and low_wall.level < view.high then 'bob-33' end as point
    from low_wall
    cross join view
  ),
  -- growth that hinders, one row for a cell and a kind of it
  growth as (
    select
      strip.n,
      strip.kind,
      strip.terrain,
      min(strip.label) as label,
      min(strip.t1) as t1,
      max(strip.t2) as t2,
      min(strip.grass_area) as area,
      max(strip.level) as level,
      bool_or(strip.woods_hide) as woods_hide,
      case
        when strip.terrain in ('orchard', 'palm_trees') then true
        when strip.terrain = 'kunai_grass' and grass_reading <> 'a' then true
        when strip.kind = 'spine' then bool_or(strip.grass)
        else bool_or(both_sides.grass)
      end as met
    from strip
    cross join lateral (
      select
        bool_and(other.grass) as grass
      from strip as other
      where other.n = strip.n
        and other.t1 = strip.t1
    ) as both_sides
    where strip.terrain in ('wheat_field', 'kunai_grass', 'orchard', 'palm_trees')
    group by strip.n, strip.kind, strip.terrain
  ),
  grown as (
    select
      growth.*,
      case
        when not growth.met then 'edge'
        when growth.terrain in ('wheat_field', 'kunai_grass') and at_vehicle then 'vehicle'
        when alevel = tlevel and growth.level < view.high and below_reading = 'a' then 'below'
        when alevel = tlevel then 'counts'
        when growth.terrain = 'kunai_grass' and grass_reading = 'c' then 'counts'
        when growth.terrain in ('wheat_field', 'kunai_grass') then 'levels'
        when growth.woods_hide then 'counts'
        else 'over'
      end as how,
      case
        when growth.terrain = 'kunai_grass' and (not growth.met or alevel <> tlevel or growth.kind = 'spine' or grass_reading <> 'a')
          then 'bob-3'
        when alevel = tlevel and growth.level < view.high then 'bob-33'
      end as point
    from growth
    cross join view
  ),
  classed as (
    select
      grown.n,
      bool_or(grown.terrain = 'palm_trees') as palm,
      bool_or(grown.terrain = 'orchard') as orchard,
      bool_or(grown.terrain in ('wheat_field', 'kunai_grass')) as grass
    from grown
    where grown.how = 'counts'
    group by grown.n
  ),
  -- 46.0: along a side the one that serves the target best; of grass and orchard, as they add up
  choice as (
    select pick.grass
    from (
      select
        count(*) filter (where classed.grass and not classed.palm and not classed.orchard) as grass,
        count(*) filter (where classed.orchard and not classed.palm and not classed.grass) as orchard,
        count(*) filter (where classed.grass and classed.orchard and not classed.palm) as either
      from classed
    ) as tally
    cross join lateral generate_series(0, tally.either) as pick (grass)
    order by (tally.grass + pick.grass + 1) / 2 + (tally.orchard + tally.either - pick.grass + 1) / 2 desc, pick.grass desc
    limit 1
  ),
  chosen as (
    select
      classed.n,
      case
        when classed.palm then 'palm'
        when not classed.grass then 'orchard'
        when not classed.orchard then 'grass'
        when row_number() over (partition by classed.palm, classed.grass, classed.orchard order by classed.n) <= choice.grass
          then 'grass'
        else 'orchard'
      end as class
    from classed
    cross join choice
  ),
  counted as (
    select distinct on (chosen.n)
      grown.n,
      grown.label,
      grown.terrain,
      grown.area,
      grown.t1,
      grown.t2,
      grown.point,
      grown.kind,
      chosen.class
    from chosen
    inner join grown
      on grown.n = chosen.n
        and grown.how = 'counts'
        and chosen.class = case grown.terrain when 'palm_trees' then 'palm' when 'orchard' then 'orchard' else 'grass' end
    order by chosen.n, grown.terrain
  ),
  ranked as (
    select
      counted.*,
      row_number() over (partition by counted.class order by counted.n) as nth
    from counted
  ),
  smoke as (
    select
      met.mark,
      hex.label,
      marker.kind
    from public.marker
    inner join public.hex on hex.map_id = _obstacles.map_id and hex.q = marker.q and hex.r = marker.r
    cross join lateral (
      select min(place.mark) as mark
      from (
        select bob._mark(line.enter, line.den) as mark
        from lattice.line(aq, ar, tq, tr) as line
        where line.kind in ('hex', 'spine', 'touch')
          and ((line.q1, line.r1) = (marker.q, marker.r) or (line.q2, line.r2) = (marker.q, marker.r))
        union all
        select case when (marker.q, marker.r) = (aq, ar) then 0 else 1e60 end
        where (marker.q, marker.r) in ((aq, ar), (tq, tr))
      ) as place
    ) as met
    where marker.position_id = _obstacles.position_id
      and marker.kind in ('smoke', 'dispersed_smoke')
      and met.mark is not null
  )
  select
    stood.t1,
    case when alevel = tlevel and stood.hides is distinct from 'level' and stood.cover is not null then '14.0' else '47.2' end,
    stood.label,
    stood.effect,
    case
      when stood.cover is null then format('ground of level %s in %s', stood.ground, stood.label)
      when stood.area is null then format('%s in %s', replace(stood.cover, '_', ' '), stood.label)
      else format('%s area %s in %s', replace(stood.cover, '_', ' '), stood.area, stood.label)
    end
    || case
      when stood.effect = 'graze' then ' shows on one side of the thread only'
      when stood.effect = 'passes' and alevel = tlevel then ' is not higher than both ends'
      when stood.effect = 'passes' then ' is seen over'
      when stood.hides = 'higher' then ' is higher than both ends'
      when stood.hides = 'level' then ' is level with the higher end and hides what is lower'
      else format(' is %s hexes from the higher end and leaves %s behind it blind', stood.near, stood.blind)
    end
    || ', ' || bob._way(stood.t1, stood.t2),
    null::text,
    0
  from stood
  union all
  select
    min(strip.t1),
    '14.0',
    strip.label,
    'assumed',
    format('%s is not drawn in %s and taken to fill it to its sides', replace(strip.terrain, '_', ' '), strip.label),
    null,
    0
  from strip
  where (strip.cover = strip.terrain and strip.area is null)
    or (strip.grass and strip.grass_area is null)
  group by strip.label, strip.terrain
  union all
  select
    hedge.mark,
    '44.0',
    hedge.label,
    case when hedge.hides and not hedge.beside_end then 'blocks' else 'passes' end,
    case
      when hedge.beside_end then 'an end is next to this hedgerow'
      when hedge.hides and hedge.along then 'the thread runs along this hedgerow'
      when hedge.hides then 'a hedgerow that is next to neither end'
      else 'woods on both sides of this hedgerow would be seen over'
    end,
    null,
    0
  from hedge
  where hedge.kind = 'hedgerow'
  union all
  select
    ridge.mark,
    '54.2',
    ridge.label,
    case when alevel = 0 and tlevel = 0 and not ridge.own then 'blocks' else 'passes' end,
    case
      when alevel <> 0 or tlevel <> 0 then 'a ridge counts between Level 0 only'
      when ridge.own then 'an end is on this ridge'
      else 'a ridge between Level 0'
    end,
    null,
    0
  from ridge
  union all
  select
    hedge.mark,
    case hedge.kind when 'cliff' then '47.4' else '54.3' end,
    hedge.label,
    'passes',
    format('to the thread this %s is a crest line', hedge.kind),
    null,
    0
  from hedge
  where hedge.kind in ('cliff', 'escarpment')
  union all
  select
    walled.mark,
    case when walled.how in ('end', 'levels', 'below') then '46.0' when walled.name = 'roadblock' then '43.7' else '46.1' end,
    walled.label,
    case
      when walled.how <> 'counts' then 'passes'
      when row_number() over (partition by walled.how order by walled.mark, walled.label) = 1 then '1'
      else '0'
    end,
    case walled.how
      when 'end' then format('a %s of an end''s own hex is no Hindrance', walled.name)
      when 'levels' then format('a %s does not hinder between different levels', walled.name)
      when 'below' then format('a %s below both ends', walled.name)
      else format('a %s in the way; walls and dike roads are one Hindrance in all', walled.name)
    end,
    walled.point,
    case
      when walled.how = 'counts' and row_number() over (partition by walled.how order by walled.mark, walled.label) = 1 then 1
      else 0
    end
  from walled
  union all
  select
    ranked.t1,
    '46.0',
    ranked.label,
    case
      when ranked.class = 'palm' and ranked.nth > 1 then 'blocks'
      when ranked.class = 'palm' or ranked.nth % 2 = 1 then '1'
      else '0'
    end,
    replace(ranked.terrain, '_', ' ')
    || coalesce(format(' area %s', ranked.area), '')
    || format(' in %s, ', ranked.label)
    || case
      when ranked.class = 'palm' and ranked.nth > 1 then 'not the first palm trees: nothing beyond is seen, '
      when ranked.class = 'palm' then ''
      else format('hex %s of its kind, ', ranked.nth)
    end
    || bob._way(ranked.t1, ranked.t2),
    ranked.point,
    case
      when ranked.class = 'palm' then case when ranked.nth = 1 then 1 else 0 end
      else (ranked.nth % 2)::integer
    end
  from ranked
  union all
  select
    grown.t1,
    '46.0',
    grown.label,
    case when grown.how = 'edge' and grown.kind = 'hex' then 'graze' else 'passes' end,
    format('%s in %s', replace(grown.terrain, '_', ' '), grown.label)
    || case grown.how
      when 'edge' then ': the thread does not cross its artwork'
      when 'vehicle' then ' does not hinder fire at a vehicle'
      when 'below' then ' lies below both ends'
      when 'levels' then ' does not hinder between different levels'
      when 'over' then ' is seen over'
      else ': the hex on the other side serves the target better'
    end,
    grown.point,
    0
  from grown
  where grown.how <> 'counts'
    or not exists (select from counted where counted.n = grown.n and counted.terrain = grown.terrain)
  union all
  select
    smoke.mark,
    '48.0',
    smoke.label,
    case
      when smoke.kind = 'smoke' and row_number() over (partition by smoke.kind order by smoke.mark, smoke.label) = 1
        then '-1'
      else 'passes'
    end,
    case
      when smoke.kind = 'smoke' then format('smoke in %s weakens fire once, and is no Hindrance', smoke.label)
      else format('dispersed smoke in %s', smoke.label)
    end,
    null,
    0
  from smoke;
end
$$;

comment on function bob._obstacles(
  bigint, bigint, integer, integer, integer, integer, integer, integer, text, text, boolean
) is
'What a thread meets between its ends, in words: what blocks, hinders, is grazed or seen over; counts: Hindrances.';

create or replace function bob.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language plpgsql stable rows 8
as $$
#variable_conflict use_column
declare
  step rulings.sight_step;
  a record;
  t record;
  readings jsonb;
  now jsonb;
  visibility integer;
  told record;
  stopped boolean := false;
  unknown boolean := false;
  hindered integer := 0;
begin
  select * into a from bob._end(los.position_id, los."from");
  select * into t from bob._end(los.position_id, los."to");
  if a.q is null or t.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  readings := positions.readings(los.position_id, los.policy);
  now := coalesce(los.conditions, (select position.conditions from public.position where position.id = los.position_id));
  visibility := (now -> 'night' ->> 'visibility')::integer;
  step.clause := null;
  step.range := lattice.distance(a.q, a.r, t.q, t.r);

  for told in
    select
      whole.rule,
      whole.at,
      whole.effect,
      whole.note,
      null::text as point,
      0 as counts
    from bob._whole_line(
      a.map_id, a.q, a.r, a.label, a.terrain, a.level, a.upper, a.in_cave, a.front,
      t.q, t.r, t.label, t.terrain, t.level, t.upper, t.in_cave, t.front,
      t.lit and now ->> 'weather' is distinct from 'monsoon', visibility, now ->> 'weather' = 'monsoon'
    ) as whole
    union all
    select
      met.rule,
      met.at,
      met.effect,
      met.note,
      met.point,
      met.counts
    from (
      select *
      from bob._obstacles(
        los.position_id, a.map_id, a.q, a.r, a.level, t.q, t.r, t.level, readings ->> 'bob-3',
        readings ->> 'bob-33', t.vehicle
      ) as found
      -- 55.2: there is no smoke in the deluge
      where found.rule <> '48.0' or now ->> 'weather' is distinct from 'monsoon'
      order by found.mark, found.rule, found.at, found.effect
    ) as met
  loop
    step.rule := told.rule;
    step.at := told.at;
    step.effect := told.effect;
    step.note := told.note;
    step.point := told.point;
    step.hindrance := told.counts;
    stopped := stopped or step.effect = 'blocks';
    unknown := unknown or step.effect = 'unknown';
    hindered := hindered + told.counts;
    return next step;
  end loop;

  step.rule := '14.0';
  step.at := positions.spoken(los."to");
  step.point := null;
  step.hindrance := hindered;
  step.effect := case when stopped then 'blocked' when unknown then 'unknown' else 'visible' end;
  step.note := case
    when stopped then 'the line of sight is blocked'
    when unknown then 'the position does not say what would decide it'
    when hindered > 0 then 'nothing stops the line of sight; it is hindered'
    else 'nothing stops the line of sight'
  end;
  if step.range = 0 and a.upper <> t.upper then
    step.range := 1;
  end if;
  return next step;
end
$$;

comment on function bob.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and through how many Hindrances: a row for every rule that speaks, the verdict last.';
