-- needs: positions/place.sql, positions/state.sql, rulings/step.sql, ccp/obstacles.sql
-- Line of sight in ccp (Combat Commander: Pacific): 7.2, 16, 18.3, O24.4, O24.5, T81.4 to T99, F102.2.
--
-- The string goes from centre to centre; what it touches between the two end hexes counts.
-- `ccp._obstacles` lists all that lines from one hex to several others meet there. `ccp._line_steps`
-- judges and tells it in words; `ccp.los` takes the steps of one line and `ccp.fan` the verdicts of
-- many, so the two cannot disagree.
--
-- Ties. Touching is enough (16.1): the edge of artwork, the side of a filled hex that the line
-- runs along, the corner of one that it meets; ccp-34 reads that otherwise for all but the
-- sides of smoke and blaze hexes, which count in any case (16.2.2, 16.3.4), and for crest
-- lines, which count when met. A side or corner of an end hex belongs to that hex. Artwork in
-- several hexes has in each the level of that hex's centre dot (T89.3.1); along a side an area
-- counts for each of the two hexes that it lies in. A line off the map is blocked.

drop type if exists ccp.line_step cascade;
create type ccp.line_step as (
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
);

comment on type ccp.line_step is
'A rule that speaks on one of several lines: in order of stage and n, the verdict in stage 4.';

create or replace function ccp._hides_in_gully(away integer, level integer, other_height integer)
returns boolean
language sql immutable parallel safe
return away > 1 and other_height <= level;

comment on function ccp._hides_in_gully(integer, integer, integer) is
'Whether a gully hides who is in it from another end: neither adjacent nor higher (T88).';

create or replace function ccp._line_end_steps(viewer ccp.line_end, line ccp.line)
returns setof ccp.line_step
language sql stable parallel safe rows 2
as $$
  select
    line.i,
    1,
    fact.n,
    fact.rule,
    fact.at,
    fact.effect,
    fact.note,
    null,
    null::integer,
    null::integer
  from (
    values
    (
      line.away = 0, 1, '16.1', line.label, 'passes', 'both are in one hex, where no string is stretched'
    ),
    (
      viewer.aloft or line.aloft, 2, 'O24.4', case when viewer.aloft then viewer.label else line.label end,
      'passes', 'an aircraft is taken to be on a hill of level 5'
    ),
    -- T88: a gully hides from all that is neither adjacent nor higher
    (
      viewer.terrain = 'gully' and not viewer.aloft and line.away > 0, 3, 'T88', viewer.label,
      case when ccp._hides_in_gully(line.away, viewer.level, line.height) then 'blocks' else 'passes' end,
      case
        when line.away = 1 then 'out of a gully an adjacent hex is seen'
        when line.height > viewer.level then 'out of a gully higher ground is seen'
        else 'out of a gully only adjacent hexes and higher ground are seen'
      end
    ),
    (
      line.terrain = 'gully' and not line.aloft and line.away > 0, 4, 'T88', line.label,
      case when ccp._hides_in_gully(line.away, line.level, viewer.height) then 'blocks' else 'passes' end,
      case
        when line.away = 1 then 'a gully is seen into from an adjacent hex'
        when viewer.height > line.level then 'a gully is seen into from above'
        else 'a gully is seen into only from adjacent hexes and higher ground'
      end
    ),
    -- 16.3.4: smoke at the ends
    (
      viewer.smoke is not null and line.away > 0, 8, '16.3.4', viewer.label, viewer.smoke::text,
      format('out of smoke of %s in %s', viewer.smoke, viewer.label)
    ),
    (
      line.smoke is not null and line.away > 0, 9, '16.3.4', line.label, line.smoke::text,
      format('into smoke of %s in %s', line.smoke, line.label)
    )
  ) as fact (holds, n, rule, at, effect, note)
  where fact.holds
$$;

comment on function ccp._line_end_steps(ccp.line_end, ccp.line) is
'What the ends of a line do to it: one hex, aircraft, gullies, smoke (16.1, 16.3.4, O24.4, T88).';

create or replace function ccp._night_steps(state positions.state, line ccp.line)
returns setof ccp.line_step
language sql stable parallel safe rows 1
as $$
  select
    line.i,
    1,
    7,
    case when light.lit then '7.2' else '18.3' end,
    line.label,
    case when light.lit then 'passes' else line.away::text end,
    case
      when light.lit then 'a starshell lights the target hex: night does not hinder'
      else format('night hinders by the range, %s', line.away)
    end,
    null,
    null::integer,
    null::integer
  from (
    select exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'starshell'
        and lattice.distance(marker.q, marker.r, line.q, line.r) <= 2
    ) as lit
  ) as light
  where (state.conditions ->> 'night')::boolean
    and line.away > 0
$$;

comment on function ccp._night_steps(positions.state, ccp.line) is
'How night hinders a line, and a starshell lights its target (7.2, 18.3).';

create or replace function ccp._slope_steps(slope ccp.slope, past_own_level boolean, crest_reading text)
returns setof ccp.line_step
language sql stable parallel safe rows 1
as $$
  select
    slope.i,
    1,
    fact.n,
    fact.rule,
    slope.label,
    fact.effect,
    fact.note,
    fact.point,
    null::integer,
    null::integer
  from (
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
      case when past_own_level and crest_reading = 'b' then 'passes' else 'blocks' end,
      case
        when past_own_level and crest_reading = 'b'
          then format('past a hill of the lower level %s is seen, though not its first Crest hex', slope.label)
        else format('the line is still on the hill of %s when it leaves that hex', slope.label)
      end,
      case when past_own_level then 'ccp-33' end
    )
  ) as fact (holds, n, rule, effect, note, point)
  where fact.holds
$$;

comment on function ccp._slope_steps(ccp.slope, boolean, text) is
'What the slope in the hex of an end does to a line: a cave, the crest of the higher end (T89.3, F102.2, ccp-33).';

create or replace function ccp._course_steps(obstacle ccp.obstacle)
returns setof ccp.line_step
language sql stable parallel safe rows 1
as $$
  select
    obstacle.i,
    2,
    100 * obstacle.n,
    '16.1',
    obstacle.place,
    case when obstacle.on_map then 'graze' else 'blocks' end,
    case
      when not obstacle.on_map then 'the line leaves the map'
      when obstacle.kind = 'spine' then 'the line runs along this side'
      else 'the line meets this hex in a corner point only'
    end,
    null,
    null::integer,
    null::integer
  where obstacle.m = 1
    and case when obstacle.on_map then obstacle.kind <> 'hex' else obstacle.kind <> 'touch' end
$$;

comment on function ccp._course_steps(ccp.obstacle) is
'Where a line runs along a side, meets a corner or leaves the map; told once a cell (16.1).';

create or replace function ccp._judgement(obstacle ccp.obstacle, crest_reading text, graze_reading text)
returns table (touches boolean, point text, effect text)
language sql stable parallel safe rows 1
as $$
  select
    meeting.touches,
    meeting.point,
    case
      when not meeting.touches then 'passes'
      when obstacle.what = 'blaze' then 'blocks'
      when obstacle.what = 'smoke' then obstacle.value::text
      when obstacle.what in ('hill', 'crest')
        then case when meeting.point = 'ccp-33' and crest_reading = 'b' then 'passes' else 'blocks' end
      -- an Obstacle: T89.4, and the blind hex behind a lower one, T89.4.1
      when obstacle.value is null
        then case
          when obstacle.level >= obstacle.barrier then 'blocks'
          when obstacle.beside_lower and obstacle.level >= obstacle.low then 'blocks'
          else 'passes'
        end
      -- a Hindrance: T89.5
      when obstacle.level >= obstacle.high then obstacle.value::text
      else 'passes'
    end
  from (
    select
      obstacle.inside or obstacle.what = 'crest' or graze_reading = 'a' as touches,
      case
        when obstacle.what in ('hill', 'crest')
          and obstacle.high > obstacle.low
          and obstacle.low > 0
          and obstacle.past_own_level
          and obstacle.on_its_hill
          and obstacle.level <= obstacle.high
          and coalesce(obstacle.value, obstacle.level) = obstacle.high
          then 'ccp-33'
        when obstacle.what in ('area', 'fill') and obstacle.value is null and obstacle.low > 0
          and obstacle.level >= obstacle.low and obstacle.level < obstacle.high
          then 'ccp-7'
        when not obstacle.inside and obstacle.what <> 'crest' then 'ccp-34'
      end as point
  ) as meeting
  -- once for each obstacle, not once for each use
  offset 0
$$;

comment on function ccp._judgement(ccp.obstacle, text, text) is
'Whether touching an obstacle counts (ccp-34), which point it turns on, what it does to the line.';

create or replace function ccp._obstacle_steps(obstacle ccp.obstacle, crest_reading text, graze_reading text)
returns setof ccp.line_step
language sql stable parallel safe rows 1
as $$
  select
    obstacle.i,
    2,
    100 * obstacle.n + obstacle.m,
    fact.rule,
    obstacle.label,
    fact.effect,
    fact.note,
    fact.point,
    null::integer,
    null::integer
  from ccp._judgement(obstacle, crest_reading, graze_reading) as judgement
  cross join lateral (select ccp._obstacle_name(obstacle) as name offset 0) as called
  cross join lateral (
    values
    (
      true,
      case
        when not judgement.touches then '16.1'
        when obstacle.what = 'blaze' then '16.2.2'
        when obstacle.what = 'smoke' then '16.3.4'
        when obstacle.what in ('hill', 'crest')
          then case when obstacle.high = obstacle.low then 'T89.3.3' else 'T89.3.2' end
        when obstacle.value is not null then case when judgement.effect = 'passes' then 'T89.5' else '16.3' end
        when judgement.effect = 'blocks' and obstacle.level < obstacle.barrier then 'T89.4.1'
        when obstacle.high > 0 then 'T89.4'
        else '16.2.1'
      end,
      judgement.effect,
      case
        when not judgement.touches then format('only the edge is met: %s', called.name)
        when obstacle.what in ('hill', 'crest') then format('a hill: %s', called.name)
        when judgement.effect = 'passes' then format('seen over from above: %s', called.name)
        when obstacle.what in ('area', 'fill') and obstacle.value is null and obstacle.level < obstacle.barrier
          then format('a blind hex behind %s', called.name)
        else called.name
      end,
      judgement.point
    ),
    (
      obstacle.what = 'fill' and judgement.effect <> 'passes',
      '16.1',
      'assumed',
      format(
        'no %s is drawn in %s: it is taken as filled to its edges',
        replace(obstacle.terrain, '_', ' '), obstacle.label
      ),
      null
    )
  ) as fact (holds, rule, effect, note, point)
  where fact.holds
    and obstacle.what is not null
    and obstacle.label is not null
$$;

comment on function ccp._obstacle_steps(ccp.obstacle, text, text) is
'What an obstacle does to a line: blocks it, hinders it, is seen over or only grazed (16.1 to 16.3, T89).';

create or replace function ccp._line_verdict_steps(line ccp.line, stopped boolean, worst integer, hindrances bigint)
returns setof ccp.line_step
language sql stable parallel safe rows 1
as $$
  select
    line.i,
    fact.stage,
    0,
    fact.rule,
    line.label,
    fact.effect,
    fact.note,
    null,
    line.away,
    fact.hindrance
  from (
    values
    (
      hindrances > 1, 3, '16.3.3', worst::text, 'of several hindrances only the largest counts', null
    ),
    (
      true, 4, '16.1', case when stopped then 'blocked' else 'visible' end,
      case
        when stopped then 'the line of sight is blocked'
        when worst > 0 then format('the line of sight is hindered by %s', worst)
        else 'nothing stops or hinders the line of sight'
      end,
      worst
    )
  ) as fact (holds, stage, rule, effect, note, hindrance)
  where fact.holds
$$;

comment on function ccp._line_verdict_steps(ccp.line, boolean, integer, bigint) is
'The verdict on a line, after the largest of its hindrances (16.1, 16.3.3).';

create or replace function ccp._line_steps(sighting ccp.sighting)
returns setof ccp.line_step
language sql stable rows 500
as $$
  with reading as materialized (
    select
      (sighting.state).readings ->> 'ccp-33' as crest,
      (sighting.state).readings ->> 'ccp-34' as graze
  ),
  viewer as materialized (
    select * from ccp._line_end(sighting.state, sighting.q, sighting.r, sighting.unit)
  ),
  line as materialized (
    select line.*
    from viewer
    cross join lateral ccp._lines(sighting, viewer::ccp.line_end) as line
  ),
  obstacle as materialized (
    select obstacle.*
    from viewer
    cross join (select array_agg(line::ccp.line) as lines from line) as every
    cross join lateral ccp._obstacles(sighting.state, viewer::ccp.line_end, every.lines) as obstacle
  ),
  past as materialized (
    select
      obstacle.i,
      bool_or(obstacle.past_own_level and obstacle.low > 0) as own_level
    from obstacle
    group by obstacle.i
  ),
  slope as materialized (
    select slope.*
    from viewer
    cross join line
    cross join lateral ccp._slopes((sighting.state).map_id, viewer::ccp.line_end, line::ccp.line) as slope
  ),
  step as materialized (
    select step.*
    from viewer
    cross join line
    cross join lateral ccp._line_end_steps(viewer::ccp.line_end, line::ccp.line) as step
    union all
    select step.*
    from line
    cross join lateral ccp._night_steps(sighting.state, line::ccp.line) as step
    union all
    select step.*
    from slope
    cross join reading
    left join past on past.i = slope.i
    cross join lateral ccp._slope_steps(slope::ccp.slope, coalesce(past.own_level, false), reading.crest) as step
    union all
    select step.*
    from obstacle
    cross join lateral ccp._course_steps(obstacle::ccp.obstacle) as step
    union all
    select step.*
    from obstacle
    cross join reading
    cross join lateral ccp._obstacle_steps(obstacle::ccp.obstacle, reading.crest, reading.graze) as step
  ),
  total as (
    select
      step.i,
      bool_or(step.effect = 'blocks') as stopped,
      max(step.effect::integer) filter (where step.effect ~ '^[0-9]+$') as worst,
      count(*) filter (where step.effect ~ '^[0-9]+$') as hindrances
    from step
    group by step.i
  )
  select step.i, step.stage, step.n, step.rule, step.at, step.effect, step.note, step.point, line.away, null::integer
  from step
  inner join line on line.i = step.i
  union all
  select verdict.*
  from line
  left join total on total.i = line.i
  cross join lateral ccp._line_verdict_steps(
    line::ccp.line, coalesce(total.stopped, false), coalesce(total.worst, 0), total.hindrances
  ) as verdict
$$;

comment on function ccp._line_steps(ccp.sighting) is
'Every rule that speaks on the lines of a sighting, in order of stage and n, the verdict in stage 4.';

-- To start a query costs more than most of them take: what has nothing to say of the line is not asked.
create or replace function ccp._one_line_steps(sighting ccp.sighting)
returns setof ccp.line_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state := sighting.state;
  crest_reading text := state.readings ->> 'ccp-33';
  graze_reading text := state.readings ->> 'ccp-34';
  viewer ccp.line_end;
  line ccp.line;
  obstacles ccp.obstacle[];
  steps ccp.line_step[] := '{}';
  total record;
begin
  select * into viewer from ccp._line_end(state, sighting.q, sighting.r, sighting.unit);
  select * into line from ccp._lines(sighting, viewer);
  if line.away = 0
    or viewer.aloft
    or line.aloft
    or 'gully' in (viewer.terrain, line.terrain)
    or coalesce(viewer.smoke, line.smoke) is not null then
    steps := array(select step from ccp._line_end_steps(viewer, line) as step);
  end if;
  if (state.conditions ->> 'night')::boolean then
    steps := steps || array(select step from ccp._night_steps(state, line) as step);
  end if;
  obstacles := array(select obstacle from ccp._obstacles(state, viewer, array[line]) as obstacle);
  if viewer.in_cave or line.in_cave or viewer.height <> line.height then
    steps := steps || array(
      select step
      from ccp._slopes(state.map_id, viewer, line) as slope
      cross join lateral ccp._slope_steps(
        slope,
        coalesce((select bool_or(obstacle.past_own_level and obstacle.low > 0) from unnest(obstacles) as obstacle), false),
        crest_reading
      ) as step
    );
  end if;
  if obstacles <> '{}' then
    steps := steps || array(
      select row(step.*)::ccp.line_step
      from unnest(obstacles) as obstacle
      cross join lateral (
        select * from ccp._course_steps(obstacle)
        union all
        select * from ccp._obstacle_steps(obstacle, crest_reading, graze_reading)
      ) as step
    );
  end if;
  select
    bool_or(step.effect = 'blocks') as stopped,
    max(step.effect::integer) filter (where step.effect ~ '^[0-9]+$') as worst,
    count(*) filter (where step.effect ~ '^[0-9]+$') as hindrances
  into total
  from unnest(steps) as step;
  return query
  select step.i, step.stage, step.n, step.rule, step.at, step.effect, step.note, step.point, line.away, null::integer
  from unnest(steps) as step
  union all
  select verdict.*
  from ccp._line_verdict_steps(line, coalesce(total.stopped, false), coalesce(total.worst, 0), total.hindrances) as verdict;
end
$$;

comment on function ccp._one_line_steps(ccp.sighting) is
'Every rule that speaks on the one line of a sighting; as ccp._line_steps.';

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
  state positions.state;
  viewer record;
  target record;
begin
  select * into viewer from positions.place(los.position_id, los."from");
  select * into target from positions.place(los.position_id, los."to");
  if viewer.q is null or target.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(los.position_id, los.conditions, los.policy);
  return query
  select
    step.rule,
    null::text,
    step.at,
    step.effect,
    step.note,
    step.point,
    step.range,
    step.hindrance
  from ccp._one_line_steps(
    row(state, viewer.q, viewer.r, viewer.unit, array[target.q], array[target.r], target.unit)::ccp.sighting
  ) as step
  order by step.stage, step.n, step.effect = 'assumed', step.rule, step.note, step.at;
end
$$;

comment on function ccp.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and how hindered: a row for every rule that speaks, the verdict last.';
