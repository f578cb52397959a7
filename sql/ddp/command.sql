-- needs: lattice/cells.sql, positions/command.sql, ddp/field_of_fire.sql, ddp/overnight.sql, ddp/spots.sql
-- Command in ddp (D-Day at Peleliu): 6.4, 7.1, 7.6, 8.25, 10.21, 10.3, 14.0, 14.2, 14.3, 14.41, 16.0, 18.32.
--
-- The position is read as it stands when the US Action Phase begins; an HQ that has moved
-- since gives nothing more (7.34). A command post on the map shows that its turn has come,
-- unless `turn` says otherwise.

create or replace function ddp._command_path(
  position_id bigint, q1 integer, r1 integer, q2 integer, r2 integer, farthest integer
)
returns integer
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (
    with recursive step as (
      select
        q1 as q,
        r1 as r,
        0 as n
      union
      select
        hex.q,
        hex.r,
        step.n + 1
      from step
      cross join lateral lattice.neighbours(step.q, step.r) as beside
      inner join public.position on position.id = _command_path.position_id
      inner join public.hex on hex.map_id = position.map_id and hex.q = beside.nq and hex.r = beside.nr
      where step.n + 1 + lattice.distance(hex.q, hex.r, q2, r2) <= farthest
        and (step.q <> q2 or step.r <> r2)
        and (
          (hex.q = q2 and hex.r = r2)
          or not exists (
            select
            from public.unit as enemy
            where enemy.position_id = _command_path.position_id
              and enemy.side = 'japan'
              and enemy.q = hex.q
              and enemy.r = hex.r
          )
        )
    )
    select min(step.n)
    from step
    where step.q = q2
      and step.r = r2
  );
end
$$;

comment on function ddp._command_path(bigint, integer, integer, integer, integer, integer) is
'The least number of hexes from one hex to another past Japanese units (14.31); null beyond the farthest.';

drop type if exists ddp.commander cascade;
create type ddp.commander as (
  code text,
  kind text,
  q integer,
  r integer,
  label text,
  away integer,
  reach integer,
  path integer,
  disrupted boolean,
  too_early boolean,
  disputed boolean,
  under_fire boolean,
  overnight boolean,
  moved boolean
);

comment on type ddp.commander is
'An HQ or command post as a unit sees it: how far it is and how far it commands, and what hinders it.';
comment on column ddp.commander.path is 'Hexes counted, round Japanese units if need be (14.31); null is out of reach';
comment on column ddp.commander.disputed is 'Whether the turn is the one that ddp-1 disputes';
comment on column ddp.commander.moved is 'Whether it has moved in this Action Phase (7.34)';

create or replace function ddp._at_start(unit positions.counter)
returns positions.counter
language plpgsql stable parallel safe
as $$
begin
  if unit.attributes ? 'started' then
    select hex.q, hex.r, hex.label
    into unit.q, unit.r, unit.label
    from public.hex
    where hex.map_id = unit.map_id and hex.label = unit.attributes ->> 'started';
  end if;
  return unit;
end
$$;

comment on function ddp._at_start(positions.counter) is
'A unit as this Action Phase found it: in the hex where it stood then (7.1).';

create or replace function ddp._commanders(state positions.state, unit positions.counter)
returns setof ddp.commander
language sql stable rows 8
as $$
  select
    head.code,
    head.kind,
    head.q,
    head.r,
    head.label,
    far.away,
    far.reach,
    case
      when far.is_post
        -- 14.2: no command range is less than one
        then ddp._command_path(state.position_id, head.q, head.r, unit.q, unit.r, coalesce(far.reach, 1))
      when far.away <= far.reach then far.away
    end,
    coalesce((head.attributes ->> 'disrupted')::boolean, false),
    far.is_post
    and coalesce(now.turn < case state.readings ->> 'ddp-1' when 'a' then 7 else 8 end, false),
    far.is_post and coalesce(now.turn = 7, false),
    far.is_post and exists (
      select
      from ddp._field_of_fire(state.position_id, head.q, head.r) as fire
      where not fire.disrupted
    ),
    now.overnight,
    ddp._flag(head.attributes, 'moved')
  from ddp._us_units(state) as present
  cross join lateral ddp._at_start(present) as head
  cross join (
    select
      (state.conditions ->> 'turn')::integer as turn,
      ddp._overnight(state.conditions) as overnight
  ) as now
  cross join lateral (
    select
      head.kind = 'command_post' as is_post,
      lattice.distance(unit.q, unit.r, head.q, head.r) as away,
      case
        -- 16.0
        when now.overnight or head.kind = 'infantry_hq' then 0
        when head.kind = 'regimental_hq' or ddp._flag(head.attributes, 'under_fire') then 1
        else (head.attributes ->> 'command_range')::integer
      end as reach
  ) as far
  where unit.side = 'us'
    and unit.q is not null
    and head.kind in ('regimental_hq', 'infantry_hq', 'command_post')
$$;

comment on function ddp._commanders(positions.state, positions.counter) is
'The HQs and command posts that might command a US unit.';

create or replace function ddp._commands(head ddp.commander, kind text, readings jsonb)
returns text
language sql immutable parallel safe
return case
  -- ddp-24 b: who was in range when the phase began stays in command
  when head.moved and coalesce(readings ->> 'ddp-24' <> 'b', true) then 'does not command'
  when head.too_early or head.under_fire then 'does not command'
  when head.kind = 'infantry_hq' then
    case
      when head.away > 0 or head.disrupted then 'does not command'
      when _commands.kind is null then 'unknown'
      -- 10.3: an infantry/HQ is itself infantry
      when _commands.kind in ('infantry', 'heavy_infantry', 'infantry_hq') then 'commands'
      else 'does not command'
    end
  when head.path is not null then 'commands'
  when head.reach is null then 'unknown'
  else 'does not command'
end;

comment on function ddp._commands(ddp.commander, text, jsonb) is
'Whether an HQ or command post commands a unit of some kind: commands, does not command or unknown.';

create or replace function ddp._turn_steps(heads ddp.commander[])
returns setof rulings.command_step
language sql immutable rows 1
as $$
  select
    case when head.too_early then '14.0' else '7.1' end,
    null,
    head.label,
    case when head.too_early then 'does not command' else 'passes' end,
    format(
      case
        when head.too_early then '%s: it is not yet the turn of command posts'
        else '%s: the turn of command posts has come'
      end,
      head.code
    ),
    case when head.disputed then 'ddp-1' end,
    head.code
  from unnest(heads) as head
  where head.too_early or head.disputed
  order by head.away, head.code
$$;

comment on function ddp._turn_steps(ddp.commander[]) is
'Command posts whose turn has not come, or has come by one reading alone (7.1, 14.0, ddp-1).';

create or replace function ddp._fire_steps(position_id bigint, heads ddp.commander[])
returns setof rulings.command_step
language sql stable rows 1
as $$
  select
    case when fire.disrupted then '6.4' else '14.32' end as rule,
    null,
    fire.label,
    case when fire.disrupted then 'passes' else 'does not command' end,
    format(
      case
        when fire.disrupted then '%s is in the field of fire of %s, but %s there is disrupted'
        else '%s is in the field of fire of %s, where %s is not disrupted'
      end,
      head.code,
      fire.place,
      fire.unit
    ),
    null,
    head.code
  from unnest(heads) as head
  cross join lateral ddp._field_of_fire(_fire_steps.position_id, head.q, head.r) as fire
  where head.kind = 'command_post'
  order by head.away, head.code, rule, fire.label
$$;

comment on function ddp._fire_steps(bigint, ddp.commander[]) is
'Command posts in a Japanese field of fire, which silences them unless whoever fires is disrupted (6.4, 14.32).';

create or replace function ddp._moved_steps(heads ddp.commander[], readings jsonb)
returns setof rulings.command_step
language sql immutable rows 1
as $$
  select
    '7.34',
    null,
    head.label,
    case when readings ->> 'ddp-24' = 'b' then 'passes' else 'does not command' end,
    format('%s has moved in this Action Phase', head.code),
    'ddp-24',
    head.code
  from unnest(heads) as head
  where head.moved
  order by head.away, head.code
$$;

comment on function ddp._moved_steps(ddp.commander[], jsonb) is
'HQs that have moved, and give nothing more in this Action Phase (7.34, ddp-24).';

create or replace function ddp._command_range_steps(
  unit positions.counter, heads ddp.commander[], readings jsonb
)
returns setof rulings.command_step
language sql immutable rows 4
as $$
  select
    case
      when head.kind = 'infantry_hq' then '10.3'
      when head.overnight and head.away > 0 then '16.0'
      when head.kind = 'regimental_hq' then '10.21'
      when head.path is null and head.away <= head.reach then '14.31'
      else '14.3'
    end,
    null,
    head.label,
    judged.effect,
    case
      when judged.effect = 'unknown' and head.kind = 'infantry_hq' then format('the kind of %s', unit.code)
      when judged.effect = 'unknown' then format('the command range of %s', head.code)
      else
        format(
          '%s, %s: range %s%s%s',
          head.code,
          case head.kind
            when 'regimental_hq' then 'a regimental HQ'
            when 'infantry_hq' then 'an infantry/HQ'
            else 'a command post'
          end,
          head.away,
          ', command range ' || head.reach,
          case
            when head.away > head.reach then format(', %s too far', head.away - head.reach)
            when head.kind = 'infantry_hq' and head.disrupted then ', but it is disrupted'
            when head.kind = 'infantry_hq' and judged.effect <> 'commands'
              then ', but it commands infantry alone'
            when head.path > head.away then format(', %s hexes round Japanese units', head.path)
            when head.path is null and head.away > 0 then ', but Japanese units are in the way'
          end
        )
    end,
    null,
    head.code
  from unnest(heads) as head
  cross join lateral (select ddp._commands(head, unit.kind, readings) as effect) as judged
  where not head.too_early
    and not head.under_fire
    and not (head.moved and coalesce(readings ->> 'ddp-24' <> 'b', true))
  order by head.away, head.code
$$;

comment on function ddp._command_range_steps(positions.counter, ddp.commander[], jsonb) is
'Whom each HQ and command post commands at its range (10.21, 10.3, 14.3, 14.31).';

create or replace function ddp._command_gifts(
  state positions.state, unit positions.counter, always boolean, steps rulings.command_step[]
)
returns setof rulings.command_step
language sql stable rows 3
as $$
  select
    gift.rule,
    null,
    unit.label,
    gift.effect,
    gift.note,
    gift.point,
    null
  from (
    select
      bool_or(step.effect = 'commands') as commanded,
      -- 8.25, 10.21: what an infantry/HQ does not give
      bool_or(step.effect = 'commands' and step.rule <> '10.3') as by_regiment
    from unnest(steps) as step
  ) as heads
  cross join (
    -- whom command gives nothing
    select case
      when coalesce((unit.attributes ->> 'disrupted')::boolean, false) then '7.6'
      when unit.kind = 'garrison' then '14.41'
    end as by
  ) as idle
  cross join lateral (
    select
      heads.commanded and idle.by is null as commanded,
      heads.by_regiment and idle.by is null as by_regiment
  ) as found
  cross join lateral (
    values
    (
      heads.commanded and idle.by is not null,
      idle.by,
      'no action',
      case idle.by
        when '7.6' then 'disrupted: all that it may do is lose the marker'
        else 'a garrison does nothing'
      end,
      null
    ),
    (found.commanded, '7.1', 'gives free action', 'beside the two actions of the turn', null),
    (found.by_regiment, '8.25', 'gives radio', 'when it attacks from an adjacent hex', null),
    (
      found.commanded and not found.by_regiment,
      '10.3',
      case when state.readings ->> 'ddp-11' = 'b' then 'gives radio' else 'no radio' end,
      'the radio as a weapon, from an infantry/HQ',
      'ddp-11'
    ),
    (
      found.by_regiment and not ddp._overnight(state.conditions) and unit.kind in ('tank', 'amphibious_tank', 'artillery'),
      '10.21',
      'gives ranged fire',
      'in an attack, and for a barrage',
      null
    ),
    (always, '18.32', 'gives radio', 'on Bloody Nose Ridge every US unit has one', null)
  ) as gift (holds, rule, effect, note, point)
  where gift.holds
  order by gift.rule, gift.effect
$$;

comment on function ddp._command_gifts(positions.state, positions.counter, boolean, rulings.command_step[]) is
'What command brings a unit: a free action, the radio, ranged fire, or nothing (7.1, 7.6, 8.25, 10.21, 10.3, 14.41, 18.32).';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function ddp.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.command_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state;
  asked positions.counter := ddp._at_start(positions._asked_counter(command.position_id, command.unit));
  always boolean;
  heads ddp.commander[];
  steps rulings.command_step[];
  verdict rulings.command_step;
begin
  select * into state from positions.state(command.position_id, command.conditions, command.policy);
  always := asked.side = 'us' and coalesce(state.conditions ->> 'scenario' = 'bloody_nose_ridge', false);
  if not always then
    heads := array(select head from ddp._commanders(state, asked) as head);
    steps := array(
      select step from ddp._turn_steps(heads) as step
      union all
      select step from ddp._fire_steps(state.position_id, heads) as step
      union all
      select step from ddp._moved_steps(heads, state.readings) as step
      union all
      select step from ddp._command_range_steps(asked, heads, state.readings) as step
    );
  end if;
  return query
  select * from unnest(steps)
  union all
  select * from ddp._command_gifts(state, asked, always, steps);
  verdict := positions._command_verdict(
    asked, steps, '10.21', 'one HQ or command post is enough', 'no HQ or command post commands it'
  );
  if always then
    verdict.rule := '18.32';
    verdict.effect := 'in command';
    verdict.note := 'on Bloody Nose Ridge every US unit is in command';
  elsif asked.side <> 'us' then
    verdict.note := 'only US units are commanded';
  end if;
  return next verdict;
end
$$;

comment on function ddp.command(bigint, text, jsonb, jsonb) is
'Whether a US unit is in command, and of whom: a row for every rule that speaks, the verdict last.';
