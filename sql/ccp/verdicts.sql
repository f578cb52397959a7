-- needs: ccp/los.sql
-- Verdicts on many lines of sight in ccp at once, for who does not ask why: 16.1, 16.3.3, T88, T89.3, F102.2.
--
-- The rules are those of `ccp._line_steps`, and what judges an obstacle is the same; but nothing is told in words.

drop type if exists ccp.verdict cascade;
create type ccp.verdict as (
  i integer,
  visible boolean,
  hindrance integer,
  points text array
);

comment on type ccp.verdict is
'The verdict on one of several lines: whether it is open, its largest Hindrance, the contested points that it touches.';

create or replace function ccp._line_verdicts(sighting ccp.sighting)
returns setof ccp.verdict
language sql stable rows 100
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
    select slope.i, slope.task, coalesce(past.own_level, false) and slope.task = 'crest' as past
    from viewer
    cross join line
    cross join lateral ccp._slopes((sighting.state).map_id, viewer::ccp.line_end, line::ccp.line) as slope
    left join past on past.i = slope.i
    where not slope.lower
      and line.away > 0
      and (viewer.in_cave or line.in_cave or viewer.height <> line.height)
  ),
  effect as (
    select line.i, 'blocks' as effect, null as point
    from viewer
    cross join line
    where (viewer.terrain = 'gully' and not viewer.aloft and ccp._hides_in_gully(line.away, viewer.level, line.height))
      or (line.terrain = 'gully' and not line.aloft and ccp._hides_in_gully(line.away, line.level, viewer.height))
    union all
    select line.i, greatest(viewer.smoke, line.smoke)::text, null
    from viewer
    cross join line
    where line.away > 0
      and greatest(viewer.smoke, line.smoke) is not null
    union all
    select night.i, night.effect, null
    from line
    cross join lateral ccp._night_steps(sighting.state, line::ccp.line) as night
    union all
    -- ccp-33: past a hill of the lower end's level
    select slope.i, case when slope.past and reading.crest = 'b' then 'passes' else 'blocks' end, case when slope.past then 'ccp-33' end
    from slope
    cross join reading
    union all
    select obstacle.i, 'blocks', null
    from obstacle
    where obstacle.m = 1
      and not obstacle.on_map
      and obstacle.kind <> 'touch'
    union all
    select obstacle.i, judgement.effect, judgement.point
    from obstacle
    cross join reading
    cross join lateral ccp._judgement(obstacle::ccp.obstacle, reading.crest, reading.graze) as judgement
    where obstacle.what is not null
      and obstacle.label is not null
  ),
  total as (
    select
      effect.i,
      bool_or(effect.effect = 'blocks') as stopped,
      max(effect.effect::integer) filter (where effect.effect ~ '^[0-9]+$') as worst,
      array_agg(distinct effect.point) filter (where effect.point is not null) as points
    from effect
    group by effect.i
  )
  select line.i, not coalesce(total.stopped, false), coalesce(total.worst, 0), total.points
  from line
  left join total on total.i = line.i
$$;

comment on function ccp._line_verdicts(ccp.sighting) is
'The verdicts on the lines of a sighting.';

-- The plan takes many times longer to make than to run: it is made once a session, one for few lines and one for many.
create or replace function ccp._few_verdicts(sighting ccp.sighting)
returns setof ccp.verdict
language plpgsql stable rows 2
set plan_cache_mode = force_generic_plan
set enable_nestloop = on
as $$
begin
  return query select verdict.* from ccp._line_verdicts(sighting) as verdict;
end
$$;

comment on function ccp._few_verdicts(ccp.sighting) is
'The verdicts on a line or two.';

create or replace function ccp._verdicts(sighting ccp.sighting)
returns setof ccp.verdict
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  if coalesce(cardinality(sighting.qs), 0) < 12 then
    return query select verdict.* from ccp._few_verdicts(sighting) as verdict;
  else
    return query select verdict.* from ccp._line_verdicts(sighting) as verdict;
  end if;
end
$$;

comment on function ccp._verdicts(ccp.sighting) is
'The verdicts on the lines of a sighting, for who does not ask why; those of ccp.los.';
