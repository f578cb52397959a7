-- needs: ccp/arms.sql, ccp/reach.sql, ccp/sights.sql
-- Who may be activated for an order, told rule by rule: 3.3.1.1, 3.3.2, 3.3.3, 12.1, O20, O24 to O31, A41.

create or replace function ccp._sided(told jsonb, side text)
returns jsonb
language sql immutable parallel safe
return case when jsonb_typeof(told) = 'object' then told -> side else told end;

comment on function ccp._sided(jsonb, text) is
'What a condition says for a side: its own value where each side has one, else the value that is told for both.';

create or replace function ccp._turn_steps(state positions.state, side text, given text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fact.rule,
    null,
    null,
    'forbids',
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    select
      state.conditions ->> 'active' as active,
      (state.conditions ->> 'orders_given')::integer as given_so_far,
      (ccp._sided(state.conditions -> 'order_limit', _turn_steps.side) #>> '{}')::integer as most
  ) as turn
  cross join lateral (
    values
    (given <> 'op_fire' and turn.active <> _turn_steps.side, 'O20.1', 'only the active player gives orders'),
    (given = 'op_fire' and turn.active = _turn_steps.side, 'A41.1', 'Op Fire is the inactive player''s'),
    (
      given <> 'op_fire' and turn.given_so_far >= turn.most, '12.1',
      format('%s orders were given this turn, as many as the Order Limit', turn.given_so_far)
    ),
    (given = 'command_confusion', 'O26', 'a Command Confusion card is no order'),
    (
      given <> 'op_fire' and state.conditions ->> 'phase' = 'refill', '12.4',
      'the turn is over: the hand is refilled'
    )
  ) as fact (holds, rule, note)
  where fact.holds
$$;

comment on function ccp._turn_steps(positions.state, text, text) is
'What forbids an order whoever carries it out: whose turn it is, the Order Limit, a card that is no order (12.1, O20.1,
O26); Op Fire is the other side''s (A41.1).';

drop type if exists ccp.called cascade;
create type ccp.called as (
  stat ccp.stat,
  first boolean,
  away integer,
  radius integer,
  point text
);

comment on type ccp.called is
'A unit that is to be activated: the first, or one whom the first takes along, how far away and within what radius.';

create or replace function ccp._called(state positions.state, unit text, others text[])
returns setof ccp.called
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  named text;
begin
  foreach named in array unit || coalesce(others, '{}') loop
    perform ccp._on_map(state.position_id, named);
  end loop;
  return query
  select
    stat,
    stat.code = _called.unit,
    lattice.distance(stat.q, stat.r, head.q, head.r),
    head.command,
    case
      when stat.code <> _called.unit and (head.attributes ->> 'broken')::boolean and head.kind in ('leader', 'hero')
        then 'ccp-29'
    end
  from ccp._stats(state) as stat
  inner join ccp._stats(state) as head on head.code = _called.unit
  where stat.code = any(_called.unit || coalesce(others, '{}'));
end
$$;

comment on function ccp._called(positions.state, text, text[]) is
'The units that are to be activated, the first with those it takes along; refuses who is not there.';

create or replace function ccp._calling_steps(called ccp.called[], given text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fact.rule,
    null,
    (one.stat).label,
    fact.effect,
    fact.note,
    fact.point,
    null,
    null::integer,
    null::jsonb
  from unnest(called) as one
  inner join unnest(called) as head on head.first
  cross join lateral (
    select
      (one.stat).code as code,
      (one.stat).attributes ->> 'activated' as done,
      (head.stat).kind as lead,
      (one.stat).kind not in ('squad', 'team') as leads,
      given = 'fire' and (head.stat).kind = 'scout' as spots
  ) as is_
  cross join lateral (
    values
    (
      is_.done is not null and (one.stat).kind <> 'hero', 'O20.2', 'forbids',
      format('%s was activated this turn already, to %s', is_.code, replace(is_.done, '_', ' ')), null
    ),
    (
      is_.done is not null and (one.stat).kind = 'hero', '3.3.2', 'allows',
      format('%s, a Hero, may be activated again', is_.code), null
    ),
    (
      not one.first and (one.stat).side <> (head.stat).side, '3.3.1.1', 'forbids',
      format('%s is no friend of %s', is_.code, (head.stat).code), null
    ),
    (
      not one.first and not is_.spots and is_.lead not in ('leader', 'hero'), '3.3.1.1', 'forbids',
      format('%s has no command number and activates nobody else', (head.stat).code), null
    ),
    (
      not one.first and is_.lead in ('leader', 'hero') and is_.leads, '3.3.1.1', 'forbids',
      format('%s is a leader, whom no other leader activates', is_.code), null
    ),
    (
      not one.first and is_.lead in ('leader', 'hero') and not is_.leads and one.radius is null, '3.3.1.1',
      'unknown', format('the command number of %s', (head.stat).code), null
    ),
    (
      not one.first and is_.lead in ('leader', 'hero') and not is_.leads and one.away > one.radius, '3.3.1.1',
      'forbids',
      format('%s is %s hexes from %s, whose command is %s', is_.code, one.away, (head.stat).code, one.radius), one.point
    ),
    (
      not one.first and is_.lead in ('leader', 'hero') and not is_.leads and one.away <= one.radius, '3.3.1.1',
      'activates', format('%s takes %s along, at range %s', (head.stat).code, is_.code, one.away), one.point
    )
  ) as fact (holds, rule, effect, note, point)
  where fact.holds
  order by not one.first, is_.code, fact.rule
$$;

comment on function ccp._calling_steps(ccp.called[], text) is
'Whether each may be activated now, and by the first of them: once a turn, Heroes excepted, within his command
(3.3.1.1, 3.3.2, O20.2).';

create or replace function ccp._seen_enemies(state positions.state, viewer ccp.stat)
returns table (id bigint, code text, label text, away integer, melee boolean)
language sql stable rows 6
as $$
  with enemy as materialized (
    select
      stat.id,
      stat.code,
      stat.label,
      stat.q,
      stat.r,
      stat.melee,
      row_number() over (order by stat.code)::integer as i
    from ccp._stats(state) as stat
    where stat.side <> viewer.side
      and stat.kind <> 'aircraft'
  ),
  seen as (
    select step.i
    from (
      select
        array_agg(enemy.q order by enemy.i) as qs,
        array_agg(enemy.r order by enemy.i) as rs
      from enemy
    ) as goal
    cross join lateral ccp._sights(
      row(state, viewer.q, viewer.r, viewer.id, goal.qs, goal.rs, null)::ccp.sighting
    ) as step
    where goal.qs is not null
      and step.effect = 'visible'
  )
  select
    enemy.id,
    enemy.code,
    enemy.label,
    lattice.distance(viewer.q, viewer.r, enemy.q, enemy.r),
    enemy.melee
  from enemy
  where enemy.i in (select seen.i from seen)
$$;

comment on function ccp._seen_enemies(positions.state, ccp.stat) is
'The enemy units that a unit sees, each with its range and whether it is in a melee.';

create or replace function ccp._suspects(state positions.state, called ccp.called[], given text)
returns table (by text, arm text, target text, label text)
language sql stable rows 6
as $$
  select
    arm.by,
    arm.name,
    seen.code,
    seen.label
  from unnest(called) as one
  inner join unnest(called) as head on head.first
  inner join ccp._arms(state) as arm
    on arm.unit = (one.stat).id
      and arm.barred is null
      -- A41.3 a
      and not (given = 'op_fire' and arm.ordnance)
      -- O27.1.3: by a Scout a mortar fires, at what he sees
      and (not ((head.stat).kind = 'scout' and not one.first) or arm.mortar)
  cross join lateral ccp._seen_enemies(
    state, case when (head.stat).kind = 'scout' and not one.first then (head).stat else (one).stat end
  ) as seen
  where not seen.melee
    and lattice.distance(
      arm.q, arm.r,
      (select other.q from ccp._stats(state) as other where other.id = seen.id),
      (select other.r from ccp._stats(state) as other where other.id = seen.id)
    ) between arm.nearest and arm.farthest
$$;

comment on function ccp._suspects(positions.state, ccp.called[], text) is
'What each piece that would be activated to fire could fire at: enemies in sight and range, not in melee (O27.1.1,
O27.1.3).';

create or replace function ccp._fire_calling_steps(state positions.state, called ccp.called[], given text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  with target as materialized (
    select * from ccp._suspects(state, called, given)
  )
  select
    fact.rule,
    fact.clause,
    fact.at,
    fact.effect,
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    select
      'O27.1.2' as rule,
      null as clause,
      (one.stat).label as at,
      'forbids' as effect,
      format('%s is in a melee hex, out of which nobody fires', (one.stat).code) as note,
      1 as n
    from unnest(called) as one
    where (one.stat).melee
    union all
    select
      'O27.1.3',
      null,
      (one.stat).label,
      'forbids',
      format('%s has no mortar that it may fire now', (one.stat).code),
      2
    from unnest(called) as one
    inner join unnest(called) as head on head.first and (head.stat).kind = 'scout'
    where not one.first
      and not exists (
        select from ccp._arms(state) as arm where arm.unit = (one.stat).id and arm.mortar and arm.barred is null
      )
    union all
    select
      '3.3.3', 'b',
      (head.stat).label,
      'forbids',
      format('%s, a broken Scout, activates no mortar', (head.stat).code),
      3
    from unnest(called) as head
    where head.first
      and (head.stat).kind = 'scout'
      and ((head.stat).attributes ->> 'broken')::boolean
      and cardinality(called) > 1
    union all
    select
      'O27.1.1',
      null,
      null,
      case when count(target.by) > 0 then 'allows' else 'forbids' end,
      case
        when count(target.by) > 0
          then format('%s has %s in %s in sight and range', min(target.by), min(target.target), min(target.label))
        else 'no enemy outside a melee is in sight and range of any of them'
      end,
      4
    from target
  ) as fact
  order by fact.n, fact.note
$$;

comment on function ccp._fire_calling_steps(positions.state, ccp.called[], text) is
'Whether units may be activated to fire: none in a melee, and a target for at least one (O27.1).';

create or replace function ccp._move_calling_steps(state positions.state, called ccp.called[])
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    'O29',
    null,
    (one.stat).label,
    case when can.moves is null then 'unknown' when can.moves then 'allows' else 'forbids' end,
    case
      when can.moves is null then format('the movement of %s', (one.stat).code)
      when can.moves then format('%s has the points for a hex', (one.stat).code)
      else format('%s has not the points to enter any hex', (one.stat).code)
    end,
    null,
    null,
    null::integer,
    null::jsonb
  from unnest(called) as one
  cross join lateral (
    select
      case
        when (one.stat).attributes ->> 'movement' is null then null
        else exists (
          select
          from ccp.reach(
            state.position_id, (one.stat).code, '{"beside": true}', state.conditions, state.readings
          ) as way
          where way.label <> (one.stat).label
        ) or exists (
          -- 14.2: the border counts as one more hex
          select
          from ccp.move(
            state.position_id, (one.stat).code, array[(one.stat).label], '{"exit": true}', state.conditions,
            state.readings
          ) as step
          where step.effect = 'legal'
        )
      end as moves
  ) as can
  order by not one.first, (one.stat).code
$$;

comment on function ccp._move_calling_steps(positions.state, ccp.called[]) is
'Whether each has movement enough for one hex, the moment it is activated to Move (O29, O20.3).';

create or replace function ccp._leading_steps(called ccp.called[], given text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    case given when 'reconnoiter' then 'O30' else 'O24' end,
    null,
    (one.stat).label,
    'forbids',
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from unnest(called) as one
  cross join lateral (
    values
    (not one.first, 1, 'one leader is activated, and nobody with him'),
    ((one.stat).kind in ('squad', 'team'), 2, format('%s is no leader', (one.stat).code)),
    (((one.stat).attributes ->> 'broken')::boolean, 3, format('%s is broken', (one.stat).code)),
    (((one.stat).attributes ->> 'suppressed')::boolean, 4, format('%s is suppressed', (one.stat).code))
  ) as fact (holds, n, note)
  where fact.holds
  order by not one.first, (one.stat).code, fact.n
$$;

comment on function ccp._leading_steps(ccp.called[], text) is
'Asset Request and Reconnoiter take one unbroken, unsuppressed leader; Scout, Hero and Sogeki Hei are such (O24, O30).';

create or replace function ccp._watching_steps(state positions.state, called ccp.called[])
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    'O30',
    null,
    (one.stat).label,
    case when count(seen.id) > 0 then 'allows' else 'forbids' end,
    case
      when count(seen.id) > 0 then format('%s sees %s', (one.stat).code, min(seen.code))
      else format('%s sees no enemy unit', (one.stat).code)
    end,
    null,
    null,
    null::integer,
    null::jsonb
  from unnest(called) as one
  left join lateral ccp._seen_enemies(state, (one).stat) as seen on true
  where one.first
  group by (one.stat).label, (one.stat).code
$$;

comment on function ccp._watching_steps(positions.state, ccp.called[]) is
'Whether the leader of a Reconnoiter order sees an enemy unit (O30).';

create or replace function ccp._nobody_steps(given text)
returns setof rulings.ledger_step
language sql immutable rows 1
as $$
  select
    order_.rule,
    null,
    null,
    'forbids',
    order_.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    values
    ('revive', 'O31', 'a Revive order activates nobody'),
    ('infiltrate', 'O28', 'an Infiltrate order activates nobody'),
    ('asset_denied', 'O23', 'an Asset Denied order activates nobody'),
    ('charge', 'O25.1', 'a Charge activates all at once: ask `charge`')
  ) as order_ (word, rule, note)
  where order_.word = given
$$;

comment on function ccp._nobody_steps(text) is
'Orders by which nobody is activated one by one (O23, O25.1, O28, O31).';

create or replace function ccp.activation(
  position_id bigint,
  given text,
  unit text,
  others text[],
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  called ccp.called[];
  step rulings.ledger_step;
  barred boolean := false;
  unsure boolean := false;
begin
  select * into state from positions.state(activation.position_id, activation.conditions, activation.policy);
  called := array(select one from ccp._called(state, activation.unit, activation.others) as one);
  for step in
    select *
    from ccp._turn_steps(state, (select (head.stat).side from unnest(called) as head where head.first), given)
    union all
    select * from ccp._nobody_steps(given)
    union all
    select * from ccp._calling_steps(called, given)
    union all
    select fired.* from ccp._fire_calling_steps(state, called, given) as fired where given in ('fire', 'op_fire')
    union all
    select moved.* from ccp._move_calling_steps(state, called) as moved where given = 'move'
    union all
    select lead.* from ccp._leading_steps(called, given) as lead where given in ('asset_request', 'reconnoiter')
    union all
    select seen.* from ccp._watching_steps(state, called) as seen where given = 'reconnoiter'
  loop
    barred := barred or step.effect = 'forbids';
    unsure := unsure or step.effect = 'unknown';
    return next step;
  end loop;
  step := row(
    case when given = 'op_fire' then 'A41.2' else 'O20.1' end, null, null,
    case when barred then 'refused' when unsure then 'unsure' else 'allowed' end,
    case
      when barred then 'not all of them may be activated'
      when unsure then 'what is not told would decide it'
      else format('activated: %s', (select string_agg((one.stat).code, ', ' order by not one.first, (one.stat).code)
                                    from unnest(called) as one))
    end,
    null, null, null,
    jsonb_build_object(
      'side', (select (head.stat).side from unnest(called) as head where head.first),
      'units', (select jsonb_agg((one.stat).code order by not one.first, (one.stat).code) from unnest(called) as one)
    )
  )::rulings.ledger_step;
  return next step;
end
$$;

comment on function ccp.activation(bigint, text, text, text[], jsonb, jsonb) is
'Whether a unit and those it takes along may be activated for an order or Op Fire: a row a rule, the verdict last
(O20, A41.2).';
