-- needs: positions/place.sql, positions/state.sql, rulings/step.sql, ccp/obstacles.sql
-- Line of sight in ccp (Combat Commander: Pacific): 7.2, 16, 18.3, O24.4, O24.5, T81.4 to T99, F102.2.
--
-- The string goes from centre to centre; what it touches between the two end hexes counts.
-- `ccp._met` lists all that lines from one hex to several others meet there. `ccp._told` judges
-- and tells it in words; `ccp.los` takes the rows of one line and `ccp.fan` the verdicts of many,
-- so the two cannot disagree.
--
-- Ties. Touching is enough (16.1): the edge of artwork, the side of a filled hex that the line
-- runs along, the corner of one that it meets; ccp-34 reads that otherwise for all but the
-- sides of smoke and blaze hexes, which count in any case (16.2.2, 16.3.4), and for crest
-- lines, which count when met. A side or corner of an end hex belongs to that hex. Artwork in
-- several hexes has in each the level of that hex's centre dot (T89.3.1); along a side an area
-- counts for each of the two hexes that it lies in. A line off the map is blocked.

create or replace function ccp._end(position_id bigint, q integer, r integer, unit bigint)
returns table (
  label text, terrain text, level integer, height integer, aloft boolean, in_cave boolean, smoke integer
)
language sql stable parallel safe rows 1
as $$
  select
    hex.label,
    hex.terrain,
    hex.level::integer,
    -- O24.4, O24.5: an aircraft looks as if from a hill of level 5
    case when craft.aloft then 5 else hex.level::integer end,
    craft.aloft,
    -- F102.1: nobody but the Japanese is ever inside
    coalesce((unit.attributes ->> 'in_cave')::boolean and unit.side = 'japan', false),
    (
      select max(marker.value)::integer
      from public.marker
      where marker.position_id = _end.position_id
        and marker.q = _end.q
        and marker.r = _end.r
        and marker.kind = 'smoke'
    )
  from public.position
  inner join public.hex
    on hex.map_id = position.map_id
      and hex.q = _end.q
      and hex.r = _end.r
  left join public.unit on unit.id = _end.unit
  cross join lateral (
    select coalesce(unit.kind in ('aircraft', 'dive_bomber', 'fighter'), false) as aloft
  ) as craft
  where position.id = _end.position_id
$$;

comment on function ccp._end(bigint, integer, integer, bigint) is
'An end of a line: its hex, how high it looks from, whether it is inside a cave, the smoke in its hex.';

create or replace function ccp._told(
  position_id bigint,
  aq integer,
  ar integer,
  viewer_unit bigint,
  tqs integer[],
  trs integer[],
  target_unit bigint,
  conditions jsonb,
  policy jsonb
)
returns table (
  i integer,
  stage integer,
  n integer,
  rule text,
  at text,
  effect text,
  note text,
  point text,
  range integer,
  hindrance integer
)
language sql stable rows 500
as $$
  with state as materialized (
    select
      game.map_id,
      coalesce((game.conditions ->> 'night')::boolean, false) as night,
      game.readings ->> 'ccp-7' as beside_hill,
      game.readings ->> 'ccp-33' as crest,
      game.readings ->> 'ccp-34' as graze
    from positions.state(_told.position_id, _told.conditions, _told.policy) as game
  ),
  viewer as materialized (
    select * from ccp._end(_told.position_id, _told.aq, _told.ar, _told.viewer_unit)
  ),
  goal as materialized (
    select
      wanted.i::integer as i,
      wanted.q,
      wanted.r,
      target.*,
      lattice.distance(_told.aq, _told.ar, wanted.q, wanted.r) as away,
      greatest(viewer.height, target.height) as high,
      least(viewer.height, target.height) as low,
      -- ground from here up stands in the way: above both ends, or as high as the higher (T89.3.2, T89.3.3)
      greatest(viewer.height, target.height) + case when viewer.height = target.height then 1 else 0 end as floor,
      -- Obstacles from here up bar the line (T89.4, ccp-7)
      case
        when state.beside_hill = 'b' and least(viewer.height, target.height) > 0
          then least(viewer.height, target.height)
        else greatest(viewer.height, target.height)
      end as barrier,
      edge.first,
      edge.last,
      edge.den
    from unnest(_told.tqs, _told.trs) with ordinality as wanted (q, r, i)
    cross join viewer
    cross join state
    cross join lateral ccp._end(_told.position_id, wanted.q, wanted.r, _told.target_unit) as target
    cross join lateral (
      select
        min(line.enter) as first,
        max(line.leave) as last,
        min(line.den) as den
      from lattice.line(_told.aq, _told.ar, wanted.q, wanted.r) as line
    ) as edge
  ),
  met as materialized (
    select
      met.*,
      goal.high,
      goal.low,
      goal.barrier,
      bool_or(met.label is not null) over line_cell as on_map,
      positions.side_label(min(met.label) over line_cell, max(met.label) over line_cell) as place,
      row_number() over (
        partition by met.i, met.n order by met.q, met.r, met.what, met.area
      ) as m,
      case
        when goal.height < viewer.height then met.leave = goal.last
        when goal.height > viewer.height then met.enter = goal.first
        else false
      end as beside_lower,
      bool_or(met.level = goal.low and met.kind <> 'touch') over (partition by met.i) as past_own_level,
      -- the hill of the higher end, without a break (ccp-33)
      coalesce(
        case
          when goal.height > viewer.height
            then bool_and(met.level = goal.high) over (
              partition by met.i order by met.n groups between 1 following and unbounded following
            )
          else bool_and(met.level = goal.high) over (
            partition by met.i order by met.n groups between unbounded preceding and 1 preceding
          )
        end,
        true
      ) as on_its_hill
    from state
    cross join viewer
    cross join lateral (
      select
        array_agg(goal.q order by goal.i) as tqs,
        array_agg(goal.r order by goal.i) as trs,
        array_agg(goal.floor order by goal.i) as floors
      from goal
    ) as wanted
    cross join lateral ccp._met(
      _told.position_id, state.map_id, _told.aq, _told.ar, wanted.tqs, wanted.trs, wanted.floors
    ) as met
    inner join goal on goal.i = met.i
    window line_cell as (partition by met.i, met.n)
  ),
  past as materialized (
    select
      met.i,
      bool_or(met.past_own_level and met.low > 0) as past_own_level
    from met
    group by met.i
  ),
  -- the slope at the edge of an end's own hex (T89.3.2, F102.2)
  slope as materialized (
    select
      goal.i,
      own.task,
      own.label,
      falls.lower,
      falls.assumed,
      coalesce(past.past_own_level, false) as past_own_level
    from goal
    cross join state
    cross join viewer
    left join past on past.i = goal.i
    cross join lateral (
      values
      ('cave', viewer.in_cave, true, viewer.level, viewer.label),
      ('cave', goal.in_cave, false, goal.level, goal.label),
      ('crest', viewer.height > goal.height and not viewer.aloft, true, viewer.level, viewer.label),
      ('crest', goal.height > viewer.height and not goal.aloft, false, goal.level, goal.label)
    ) as own (task, asked, at_start, level, label)
    cross join lateral (
      select
        array_agg(beyond.q) as qs,
        array_agg(beyond.r) as rs
      from (
        select
          side.q,
          side.r
        from lattice.line(_told.aq, _told.ar, goal.q, goal.r) as line
        cross join lateral (values (line.q1, line.r1), (line.q2, line.r2)) as side (q, r)
        where line.kind in ('hex', 'spine')
          and case when own.at_start then line.enter = goal.first else line.leave = goal.last end
        union
        select
          case when own.at_start then goal.q else _told.aq end,
          case when own.at_start then goal.r else _told.ar end
        where goal.away = 1
      ) as beyond
    ) as next
    cross join lateral (select case when own.at_start then goal.first else goal.last end as t) as leaves
    cross join lateral ccp._falls(
      state.map_id,
      case when own.at_start then _told.aq else goal.q end,
      case when own.at_start then _told.ar else goal.r end,
      own.level,
      3 * _told.aq * goal.den + 3 * (goal.q - _told.aq) * leaves.t,
      (2 * _told.ar + _told.aq) * goal.den + (2 * (goal.r - _told.ar) + goal.q - _told.aq) * leaves.t,
      goal.den,
      next.qs,
      next.rs
    ) as falls
    where own.asked
      and goal.away > 0
  ),
  judged as (
    select
      met.*,
      name.name,
      met.inside or met.what = 'crest' or state.graze = 'a' as touches,
      case
        when met.what in ('hill', 'crest')
          and met.high > met.low
          and met.low > 0
          and met.past_own_level
          and met.on_its_hill
          and met.level <= met.high
          and coalesce(met.value, met.level) = met.high
          then 'ccp-33'
        when met.what in ('area', 'fill') and met.value is null and met.low > 0 and met.level >= met.low
          and met.level < met.high
          then 'ccp-7'
        when not met.inside and met.what <> 'crest' then 'ccp-34'
      end as point,
      state.crest
    from met
    cross join state
    cross join lateral (
      select ccp._thing_name(met.what, met.terrain, met.area, met.value, met.label, met.enter, met.leave, met.den) as name
    ) as name
    where met.what is not null
      and met.label is not null
  ),
  ruled as materialized (
    select
      judged.*,
      case
        when not judged.touches then 'passes'
        when judged.what = 'blaze' then 'blocks'
        when judged.what = 'smoke' then judged.value::text
        when judged.what in ('hill', 'crest')
          then case when judged.point = 'ccp-33' and judged.crest = 'b' then 'passes' else 'blocks' end
        -- an Obstacle: T89.4, and the blind hex behind a lower one, T89.4.1
        when judged.value is null
          then case
            when judged.level >= judged.barrier then 'blocks'
            when judged.beside_lower and judged.level >= judged.low then 'blocks'
            else 'passes'
          end
        -- a Hindrance: T89.5
        when judged.level >= judged.high then judged.value::text
        else 'passes'
      end as effect
    from judged
  ),
  row_of as materialized (
    select
      goal.i,
      1 as stage,
      fact.n,
      fact.rule,
      fact.at,
      fact.effect,
      fact.note,
      null::text as point
    from goal
    cross join viewer
    cross join state
    cross join lateral (
      select exists (
        select
        from public.marker
        where marker.position_id = _told.position_id
          and marker.kind = 'starshell'
          and lattice.distance(marker.q, marker.r, goal.q, goal.r) <= 2
      ) as lit
    ) as light
    cross join lateral (
      values
      (
        goal.away = 0, 1, '16.1', goal.label, 'passes', 'both are in one hex, where no string is stretched'
      ),
      (
        viewer.aloft or goal.aloft, 2, 'O24.4', case when viewer.aloft then viewer.label else goal.label end,
        'passes', 'an aircraft is taken to be on a hill of level 5'
      ),
      -- T88: a gully hides from all that is neither adjacent nor higher
      (
        viewer.terrain = 'gully' and not viewer.aloft and goal.away > 0, 3, 'T88', viewer.label,
        case when goal.away = 1 or goal.height > viewer.level then 'passes' else 'blocks' end,
        case
          when goal.away = 1 then 'out of a gully an adjacent hex is seen'
          when goal.height > viewer.level then 'out of a gully higher ground is seen'
          else 'out of a gully only adjacent hexes and higher ground are seen'
        end
      ),
      (
        goal.terrain = 'gully' and not goal.aloft and goal.away > 0, 4, 'T88', goal.label,
        case when goal.away = 1 or viewer.height > goal.level then 'passes' else 'blocks' end,
        case
          when goal.away = 1 then 'a gully is seen into from an adjacent hex'
          when viewer.height > goal.level then 'a gully is seen into from above'
          else 'a gully is seen into only from adjacent hexes and higher ground'
        end
      ),
      (
        state.night and goal.away > 0, 7, case when light.lit then '7.2' else '18.3' end, goal.label,
        case when light.lit then 'passes' else goal.away::text end,
        case
          when light.lit then 'a starshell lights the target hex: night does not hinder'
          else format('night hinders by the range, %s', goal.away)
        end
      ),
      -- 16.3.4: smoke at the ends
      (
        viewer.smoke is not null and goal.away > 0, 8, '16.3.4', viewer.label, viewer.smoke::text,
        format('out of smoke of %s in %s', viewer.smoke, viewer.label)
      ),
      (
        goal.smoke is not null and goal.away > 0, 9, '16.3.4', goal.label, goal.smoke::text,
        format('into smoke of %s in %s', goal.smoke, goal.label)
      )
    ) as fact (holds, n, rule, at, effect, note)
    where fact.holds
    union all
    select
      slope.i,
      1,
      fact.n,
      fact.rule,
      slope.label,
      fact.effect,
      fact.note,
      fact.point
    from slope
    cross join state
    cross join lateral (
      values
      (
        slope.assumed, 5, 'T89.3.1', 'assumed',
        format('no crest line is drawn at %s: its hill is taken to end at its sides', slope.label), null
      ),
      (
        slope.task = 'cave', 6, 'F102.2.2', case when slope.lower then 'passes' else 'blocks' end,
        case
          when slope.lower then 'the line leaves the hex of the cave downslope'
          else 'the line leaves the hex of the cave upslope, where nobody inside sees or is seen'
        end,
        null
      ),
      (
        slope.task = 'crest' and slope.lower, 6, 'T89.3.2', 'passes',
        format('the line crosses the crest of %s before it leaves that hex', slope.label), null
      ),
      -- ccp-33: past a hill of the lower end's level
      (
        slope.task = 'crest' and not slope.lower, 6, 'T89.3.2',
        case when slope.past_own_level and state.crest = 'b' then 'passes' else 'blocks' end,
        case
          when slope.past_own_level and state.crest = 'b'
            then format('past a hill of the lower level %s is seen, though not its first Crest hex', slope.label)
          else format('the line is still on the hill of %s when it leaves that hex', slope.label)
        end,
        case when slope.past_own_level then 'ccp-33' end
      )
    ) as fact (holds, n, rule, effect, note, point)
    where fact.holds
    union all
    select
      met.i,
      2,
      100 * met.n,
      '16.1',
      met.place,
      case when met.on_map then 'graze' else 'blocks' end,
      case
        when not met.on_map then 'the line leaves the map'
        when met.kind = 'spine' then 'the line runs along this side'
        else 'the line meets this hex in a corner point only'
      end,
      null
    from met
    where met.m = 1
      and case when met.on_map then met.kind <> 'hex' else met.kind <> 'touch' end
    union all
    select
      ruled.i,
      2,
      100 * ruled.n + ruled.m::integer,
      fact.rule,
      ruled.label,
      fact.effect,
      fact.note,
      fact.point
    from ruled
    cross join lateral (
      values
      (
        true,
        case
          when not ruled.touches then '16.1'
          when ruled.what = 'blaze' then '16.2.2'
          when ruled.what = 'smoke' then '16.3.4'
          when ruled.what in ('hill', 'crest') then case when ruled.high = ruled.low then 'T89.3.3' else 'T89.3.2' end
          when ruled.value is not null then case when ruled.effect = 'passes' then 'T89.5' else '16.3' end
          when ruled.effect = 'blocks' and ruled.level < ruled.barrier then 'T89.4.1'
          when ruled.high > 0 then 'T89.4'
          else '16.2.1'
        end,
        ruled.effect,
        case
          when not ruled.touches then format('only the edge is met: %s', ruled.name)
          when ruled.what in ('hill', 'crest') then format('a hill: %s', ruled.name)
          when ruled.effect = 'passes' then format('seen over from above: %s', ruled.name)
          when ruled.what in ('area', 'fill') and ruled.value is null and ruled.level < ruled.barrier
            then format('a blind hex behind %s', ruled.name)
          else ruled.name
        end,
        ruled.point
      ),
      (
        ruled.what = 'fill' and ruled.effect <> 'passes',
        '16.1',
        'assumed',
        format('no %s is drawn in %s: it is taken as filled to its edges', replace(ruled.terrain, '_', ' '), ruled.label),
        null
      )
    ) as fact (holds, rule, effect, note, point)
    where fact.holds
  ),
  sum as (
    select
      goal.i,
      goal.label,
      goal.away,
      coalesce(bool_or(row_of.effect = 'blocks'), false) as stopped,
      coalesce(max(row_of.effect::integer) filter (where row_of.effect ~ '^[0-9]+$'), 0) as worst,
      count(*) filter (where row_of.effect ~ '^[0-9]+$') as hindrances
    from goal
    left join row_of on row_of.i = goal.i
    group by goal.i, goal.label, goal.away
  )
  select
    row_of.i,
    row_of.stage,
    row_of.n,
    row_of.rule,
    row_of.at,
    row_of.effect,
    row_of.note,
    row_of.point,
    goal.away,
    null::integer
  from row_of
  inner join goal on goal.i = row_of.i
  union all
  select
    sum.i,
    3,
    0,
    '16.3.3',
    sum.label,
    sum.worst::text,
    'of several hindrances only the largest counts',
    null,
    sum.away,
    null
  from sum
  where sum.hindrances > 1
  union all
  select
    sum.i,
    4,
    0,
    '16.1',
    sum.label,
    case when sum.stopped then 'blocked' else 'visible' end,
    case
      when sum.stopped then 'the line of sight is blocked'
      when sum.worst > 0 then format('the line of sight is hindered by %s', sum.worst)
      else 'nothing stops or hinders the line of sight'
    end,
    null,
    sum.away,
    sum.worst
  from sum
$$;

comment on function ccp._told(
  bigint, integer, integer, bigint, integer[], integer[], bigint, jsonb, jsonb
) is
'Every rule that speaks on lines from one place to several: in order of stage and n, the verdict in stage 4.';

create or replace function ccp.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  viewer record;
  target record;
begin
  select * into viewer from positions.place(los.position_id, los."from");
  select * into target from positions.place(los.position_id, los."to");
  if viewer.q is null or target.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  return query
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.range,
    told.hindrance
  from ccp._told(
    los.position_id, viewer.q, viewer.r, viewer.unit, array[target.q], array[target.r], target.unit,
    los.conditions, los.policy
  ) as told
  order by told.stage, told.n, told.effect = 'assumed', told.rule, told.note;
end
$$;

comment on function ccp.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and how hindered: a row for every rule that speaks, the verdict last.';
