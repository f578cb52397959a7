-- needs: ccp/arms.sql, ccp/party.sql, ccp/views.sql
-- Who sees a ccp unit as it moves, and who may fire at it: A41, O27.3, T94.

create or replace function ccp._eyes(party ccp.party, qs integer[], rs integer[])
returns table (id bigint, code text, q integer, r integer)
language sql stable rows 10
as $$
  -- units in one hex see alike, but for those inside its cave; the nearest are asked first
  select distinct on (near.away, stat.q, stat.r, stat.in_cave)
    stat.id,
    stat.code,
    stat.q,
    stat.r
  from (
    select
      stat.*,
      coalesce((stat.attributes ->> 'in_cave')::boolean, false) as in_cave
    from ccp._stats(party.state) as stat
    where stat.side <> party.side
      and stat.kind <> 'aircraft'
  ) as stat
  cross join lateral (
    select min(lattice.distance(stat.q, stat.r, hex.q, hex.r)) as away
    from unnest(_eyes.qs, _eyes.rs) as hex (q, r)
  ) as near
  order by near.away, stat.q, stat.r, stat.in_cave, stat.code
$$;

comment on function ccp._eyes(ccp.party, integer[], integer[]) is
'The enemies of a party that may see some hexes, the nearest first, one of those who see alike.';

create or replace function ccp._watched(party ccp.party, qs integer[], rs integer[])
returns table (q integer, r integer, watcher text, points text[])
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  eye record;
  line record;
  open_qs integer[] := coalesce(_watched.qs, '{}');
  open_rs integer[] := _watched.rs;
  dark_qs integer[];
  dark_rs integer[];
begin
  for eye in select * from ccp._eyes(party, _watched.qs, _watched.rs) loop
    exit when cardinality(open_qs) = 0;
    dark_qs := '{}';
    dark_rs := '{}';
    for line in
      select verdict.*
      from ccp._verdicts(row(party.state, eye.q, eye.r, eye.id, open_qs, open_rs, null)::ccp.sighting) as verdict
    loop
      q := open_qs[line.i];
      r := open_rs[line.i];
      watcher := case when line.visible then eye.code end;
      points := line.points;
      return next;
      if not line.visible then
        dark_qs := dark_qs || q;
        dark_rs := dark_rs || r;
      end if;
    end loop;
    open_qs := dark_qs;
    open_rs := dark_rs;
  end loop;
end
$$;

comment on function ccp._watched(ccp.party, integer[], integer[]) is
'Which hexes an enemy of a party sees: a row a line that was tried, by whom if it is open, and the points it touches.';

create or replace function ccp._watchers(party ccp.party, qs integer[], rs integer[])
returns table (q integer, r integer, watcher text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  eye record;
  open_qs integer[] := coalesce(_watchers.qs, '{}');
  open_rs integer[] := coalesce(_watchers.rs, '{}');
  seen integer[];
  over ccp.outlook := ccp._outlook(party.state);
begin
  for eye in select * from ccp._eyes(party, _watchers.qs, _watchers.rs) loop
    exit when cardinality(open_qs) = 0;
    seen := ccp._seen(row(party.state, eye.q, eye.r, eye.id, open_qs, open_rs, null)::ccp.sighting, over);
    return query
    select open_qs[line.i], open_rs[line.i], eye.code
    from unnest(seen) as line (i);
    select coalesce(array_agg(hex.q order by hex.i), '{}'), coalesce(array_agg(hex.r order by hex.i), '{}')
    into open_qs, open_rs
    from unnest(open_qs, open_rs) with ordinality as hex (q, r, i)
    where hex.i <> all(seen);
  end loop;
  return query
  select hex.q, hex.r, null::text
  from unnest(open_qs, open_rs) as hex (q, r);
end
$$;

comment on function ccp._watchers(ccp.party, integer[], integer[]) is
'Of each of some hexes the first enemy of a party that sees it, if any; as ccp._watched, for who does not ask for points.';

create or replace function ccp._op_fire_lines(state positions.state, arms ccp.arm[], qs integer[], rs integer[])
returns table (
  q integer,
  r integer,
  by text,
  with_what text,
  away integer,
  strength integer,
  untold boolean,
  visible boolean,
  hindrance integer,
  points text[]
)
language sql stable rows 10
as $$
  with wanted as materialized (
    select
      arm.unit,
      arm.by,
      arm.q as fq,
      arm.r as fr,
      hex.q,
      hex.r,
      lattice.distance(arm.q, arm.r, hex.q, hex.r) as away,
      -- O27.3.1.2: a unit and its weapon fire together as X + Y; T89.2: height counts
      (max(arm.fp) + count(*) - 1 + max(sign(arm.level - hex.level)))::integer as strength,
      bool_or(arm.fp is null) as untold,
      string_agg(arm.name, ' and ' order by arm.arm) as with_what
    from unnest(_op_fire_lines.qs, _op_fire_lines.rs) as goal (q, r)
    inner join public.hex on hex.map_id = state.map_id and hex.q = goal.q and hex.r = goal.r
    inner join unnest(arms) as arm
      on lattice.distance(arm.q, arm.r, hex.q, hex.r) between arm.nearest and arm.farthest
    group by arm.unit, arm.by, arm.q, arm.r, hex.q, hex.r
  ),
  eye as materialized (
    select
      wanted.unit,
      wanted.fq,
      wanted.fr,
      array_agg(wanted.q order by wanted.q, wanted.r) as qs,
      array_agg(wanted.r order by wanted.q, wanted.r) as rs
    from wanted
    group by wanted.unit, wanted.fq, wanted.fr
  ),
  line as materialized (
    select
      eye.unit,
      eye.qs[verdict.i] as q,
      eye.rs[verdict.i] as r,
      case when verdict.visible then verdict.hindrance end as hindrance,
      verdict.visible,
      verdict.points
    from eye
    cross join lateral ccp._verdicts(
      row(state, eye.fq, eye.fr, eye.unit, eye.qs, eye.rs, null)::ccp.sighting
    ) as verdict
  )
  select
    wanted.q,
    wanted.r,
    wanted.by,
    wanted.with_what,
    wanted.away,
    wanted.strength,
    wanted.untold,
    line.visible,
    line.hindrance,
    line.points
  from wanted
  inner join line on line.unit = wanted.unit and line.q = wanted.q and line.r = wanted.r
$$;

comment on function ccp._op_fire_lines(positions.state, ccp.arm[], integer[], integer[]) is
'Which of these arms reach which of these hexes: with what FP together, and whether in sight (O27.3.1.2, T89.2).';

create or replace function ccp._op_fire(party ccp.party, qs integer[], rs integer[])
returns table (q integer, r integer, by text, rule text, effect text, note text, points text[])
language sql stable rows 10
as $$
  with arm as materialized (
    select arm.*
    from ccp._arms(party.state, party.ids) as arm
    where arm.side <> party.side
      and not arm.ordnance
      and arm.barred is null
  )
  select
    line.q,
    line.r,
    line.by,
    coalesce(case when not line.visible then 'O27.1.1' end, weak.rule, 'A41.1'),
    case
      when not line.visible then 'hidden'
      when weak.rule is not null then 'hindered'
      else 'opportunity fire'
    end,
    case
      when not line.visible then format('out of sight of %s', line.by)
      when weak.rule is not null then format('%s: %s', line.with_what, weak.note)
      else format(
        '%s at range %s%s', line.with_what, line.away,
        case when line.hindrance > 0 then format(', hindered by %s', line.hindrance) end
      )
    end,
    line.points
  from (select array_agg(enemy::ccp.arm) as arms from arm as enemy) as every
  cross join lateral ccp._op_fire_lines(party.state, every.arms, _op_fire.qs, _op_fire.rs) as line
  left join lateral ccp._too_weak(line.strength, line.hindrance) as weak on not line.untold
  -- out of sight is told only where it could be read otherwise
  where line.visible or line.points is not null
  union all
  -- what a broken leader still commands, where it could bring the hex into range
  select distinct
    goal.q,
    goal.r,
    arm.by,
    'O27.3.4',
    'command',
    format('what %s, a broken leader, still commands', arm.broken_leader),
    array['ccp-29']
  from arm
  inner join unnest(_op_fire.qs, _op_fire.rs) as goal (q, r)
    on lattice.distance(arm.q, arm.r, goal.q, goal.r) between arm.nearest and arm.farthest + arm.broken_command
  where arm.broken_command > 0
  union all
  select distinct
    null::integer,
    null::integer,
    arm.by,
    fact.rule,
    'unknown',
    fact.note,
    null::text[]
  from arm
  cross join lateral (
    values
    (arm.farthest is null, '3.1.2', format('the range of %s', arm.name)),
    (arm.untold is not null, '3.3.1.2', format('the command number of %s', arm.untold))
  ) as fact (holds, rule, note)
  where fact.holds
$$;

comment on function ccp._op_fire(ccp.party, integer[], integer[]) is
'Who of the other side could fire at a party that enters these hexes, with what and why not (A41, O27.3.2).';

create or replace function ccp._op_fire_steps(
  party ccp.party, steps integer[], qs integer[], rs integer[], leave boolean[]
)
returns setof ccp.order_step
language sql stable rows 10
as $$
  with step as materialized (
    select *
    from unnest(_op_fire_steps.steps, _op_fire_steps.qs, _op_fire_steps.rs, leave) as step (i, q, r, leaves)
  ),
  fired as materialized (
    select fired.*
    from (
      select
        array_agg(hex.q) as qs,
        array_agg(hex.r) as rs
      from (select distinct step.q, step.r from step) as hex
    ) as goal
    cross join lateral ccp._op_fire(party, goal.qs, goal.rs) as fired
    where goal.qs is not null
  )
  select
    coalesce(step.i, 1000),
    case when step.i is null then 1 else 12 end,
    case
      when touched.n > 1 then 'O27.1.1'
      when step.leaves and fired.effect = 'opportunity fire' then 'A41.2'
      else fired.rule
    end,
    hex.label,
    -- who fires is told once, whatever its sight hangs on
    case when touched.n > 1 then 'contested' else fired.effect end,
    case
      when touched.n > 1 then format('the line of sight of %s could be read otherwise', fired.by)
      else fired.note
    end,
    touched.point,
    null::integer,
    fired.by
  from fired
  left join step on step.q = fired.q and step.r = fired.r
  left join public.hex on hex.map_id = (party.state).map_id and hex.q = step.q and hex.r = step.r
  left join lateral unnest(case when step.leaves then array['ccp-19'] else '{}' end || fired.points)
    with ordinality as touched (point, n) on true
$$;

comment on function ccp._op_fire_steps(ccp.party, integer[], integer[], integer[], boolean[]) is
'Op Fire at each step, on entering a hex or on leaving the map from it; without a step what is not told (A41, ccp-19).';
