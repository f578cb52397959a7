-- needs: lattice/cells.sql, positions/command.sql, positions/state.sql, rulings/step.sql
-- Command in ccp (Combat Commander: Pacific): 3.3.1.1, 3.3.3, 3.3.4, 19.1, O27.1.2, O27.1.3, O27.3.4.
--
-- A unit is in command of every leader that could activate it. What an order itself asks
-- for (a target in sight, O27.1.1; not yet activated, O20.2) is for the order to check.
-- Suppression, wire and veterans leave command as it is (4.2.2, 4.1.2).

drop type if exists ccp.leader cascade;
create type ccp.leader as (
  code text,
  kind text,
  label text,
  away integer,
  broken boolean,
  radius integer,
  effect text
);

comment on type ccp.leader is
'A leader who might activate a unit: how far away he is, whether he commands it.';
comment on column ccp.leader.radius is 'How far he commands; null: he has no number, or none is told';

drop type if exists ccp.follower cascade;
create type ccp.follower as (
  label text,
  follows boolean,
  on_map boolean,
  mortar boolean,
  hindered text,
  in_melee boolean
);

comment on type ccp.follower is
'A unit whose command is asked about: whether leaders activate it, and what hinders a Scout from activating its mortar.';

create or replace function ccp._follower(counter positions.counter)
returns setof ccp.follower
language sql stable rows 1
as $$
  select
    counter.label,
    counter.kind in ('squad', 'team'),
    counter.q is not null,
    coalesce((counter.attributes -> 'weapon' ->> 'mortar')::boolean, false),
    case
      when (counter.attributes ->> 'broken')::boolean then 'it is broken'
      when (counter.attributes ->> 'suppressed')::boolean then 'it is suppressed'
      when melee.is_so then 'it is in a melee hex'
      when (counter.attributes -> 'weapon' ->> 'broken')::boolean then 'its mortar is broken'
    end,
    melee.is_so
  from (
    -- 19.1: units of both sides make a melee hex, whether or not the marker is there
    select
      exists (
        select
        from public.unit as enemy
        where enemy.position_id = counter.position_id
          and enemy.q = counter.q
          and enemy.r = counter.r
          and enemy.side <> counter.side
      )
      or exists (
        select
        from public.marker
        where marker.position_id = counter.position_id
          and marker.q = counter.q
          and marker.r = counter.r
          and marker.kind = 'melee'
      ) as is_so
  ) as melee
$$;

comment on function ccp._follower(positions.counter) is
'What command asks of a unit (3.3.1.1, 3.3.3, 19.1).';

create or replace function ccp._leaders(state positions.state, counter positions.counter, follower ccp.follower)
returns setof ccp.leader
language sql stable rows 8
as $$
  select
    leader.code,
    leader.kind,
    hex.label,
    place.away,
    place.broken,
    command.radius,
    case
      when leader.kind = 'sogeki_hei' then 'does not command'
      when leader.kind = 'scout' then
        case
          when follower.mortar and follower.hindered is null and not place.broken then 'commands'
          else 'does not command'
        end
      -- its own hex is in any radius
      when place.away = 0 or place.away <= command.radius then 'commands'
      when command.radius is null then 'unknown'
      else 'does not command'
    end
  from public.unit as leader
  inner join public.hex on hex.map_id = leader.map_id and hex.q = leader.q and hex.r = leader.r
  cross join lateral (
    select
      lattice.distance(counter.q, counter.r, leader.q, leader.r) as away,
      coalesce((leader.attributes ->> 'broken')::boolean, false) as broken
  ) as place
  cross join lateral (
    select
      case
        when leader.kind in ('scout', 'sogeki_hei') then null
        when place.broken and state.readings ->> 'ccp-29' = 'a' then 0
        else (leader.attributes ->> 'command')::integer
      end as radius
  ) as command
  where leader.position_id = state.position_id
    and leader.side = counter.side
    and leader.kind in ('leader', 'hero', 'scout', 'sogeki_hei')
    and leader.id <> counter.id
    and follower.on_map
    -- 3.3.1.1: never another leader
    and follower.follows
$$;

comment on function ccp._leaders(positions.state, positions.counter, ccp.follower) is
'The leaders of a unit''s side, how far away each is, how far he commands, and whether he commands the unit.';

create or replace function ccp._leader_steps(follower ccp.follower, leader ccp.leader)
returns setof rulings.command_step
language sql stable parallel safe rows 1
as $$
  select
    case
      when leader.kind = 'sogeki_hei' then '3.3.4'
      when leader.kind = 'scout' and follower.mortar and not leader.broken then 'O27.1.3'
      when leader.kind = 'scout' then '3.3.3'
      when leader.broken then 'O27.3.4'
      else '3.3.1.1'
    end,
    case
      when leader.kind = 'scout' and follower.mortar and leader.broken then 'b'
      when leader.kind = 'sogeki_hei' or (leader.kind = 'scout' and not follower.mortar) then 'a'
    end,
    leader.label,
    leader.effect,
    case
      when leader.kind = 'sogeki_hei' then format('%s, a Sogeki Hei, activates nobody', leader.code)
      when leader.kind = 'scout' and not follower.mortar
        then format('%s, a Scout, activates none but mortars', leader.code)
      when leader.kind = 'scout' and leader.broken
        then format('%s, a broken Scout, activates no mortar', leader.code)
      when leader.kind = 'scout' and leader.effect = 'commands'
        then format('%s, a Scout at any distance, to fire its mortar at an enemy whom he sees', leader.code)
      when leader.kind = 'scout' then format('%s, a Scout, but %s', leader.code, follower.hindered)
      when leader.effect = 'unknown' then format('the command number of %s', leader.code)
      else
        format(
          '%s%s: range %s%s%s',
          leader.code,
          case when leader.broken then ', broken' else '' end,
          leader.away,
          ', command ' || leader.radius,
          case when leader.effect <> 'commands' then format(', %s too far', leader.away - leader.radius) end
        )
    end,
    case when leader.broken and leader.kind in ('leader', 'hero') then 'ccp-29' end,
    leader.code
$$;

comment on function ccp._leader_steps(ccp.follower, ccp.leader) is
'Whether a leader commands a unit, and by which rule (3.3.1.1, 3.3.3, 3.3.4, O27.1.3, O27.3.4).';

create or replace function ccp._command_gift_steps(follower ccp.follower, leaders ccp.leader[])
returns setof rulings.command_step
language sql stable parallel safe rows 2
as $$
  select
    fact.rule,
    null,
    follower.label,
    fact.effect,
    fact.note,
    null,
    null
  from (
    select
      exists (
        select from unnest(leaders) as one where one.effect = 'commands' and one.kind in ('leader', 'hero')
      ) as led,
      exists (select from unnest(leaders) as one where one.effect = 'commands' and one.kind = 'scout') as spotted
  ) as has
  cross join lateral (
    values
    (
      not follower.follows, 1, '3.3.1.1', 'does not command', 'a leader is activated for itself, never by another'
    ),
    (follower.in_melee, 2, 'O27.1.2', 'cannot fire', 'no unit in a melee hex is activated to fire'),
    (has.led, 3, '3.3.1.1', 'gives orders', 'the order or Op Fire of the leader'),
    (has.spotted, 4, 'O27.1.3', 'gives mortar fire', 'a Fire order for its mortar, and no other')
  ) as fact (holds, n, rule, effect, note)
  where fact.holds
  order by fact.n
$$;

comment on function ccp._command_gift_steps(ccp.follower, ccp.leader[]) is
'What command brings to a unit, and what the unit itself shuts out (3.3.1.1, O27.1.2, O27.1.3).';

-- The plans take longer to make than to run: they are made once a session.
create or replace function ccp.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.command_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  counter positions.counter;
  follower ccp.follower;
  leaders ccp.leader[];
  verdict text;
begin
  select * into counter from positions.counter(command.position_id, command.unit);
  if not found then
    return;
  end if;
  select * into state from positions.state(command.position_id, command.conditions, command.policy);
  select * into follower from ccp._follower(counter);
  leaders := array(select leader from ccp._leaders(state, counter, follower) as leader);
  return query
  select step.*
  from unnest(leaders) as leader
  cross join lateral ccp._leader_steps(follower, leader) as step
  order by leader.away, leader.code;
  return query select * from ccp._command_gift_steps(follower, leaders);
  select positions._command_verdict(bool_or(leader.effect = 'commands'), bool_or(leader.effect = 'unknown'))
  into verdict
  from unnest(leaders) as leader;
  return next row(
    '3.3.1.1',
    null,
    counter.label,
    verdict,
    case
      when counter.q is null then format('%s is not on the map', command.unit)
      when verdict = 'in command' then 'a leader could activate it'
      when verdict = 'unknown' then 'what a counter does not tell would decide it'
      else 'it can only be activated by itself'
    end,
    null,
    null
  )::rulings.command_step;
end
$$;

comment on function ccp.command(bigint, text, jsonb, jsonb) is
'Whether a leader could activate a unit, and which: a row for every rule that speaks, the verdict last.';
