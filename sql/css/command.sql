-- needs: lattice/cells.sql, positions/command.sql
-- Command in css (Guam): 2.0, 5.1, 13.0, 13.2, 24.2, 26.0.
--
-- A row for every HQ and Leader of the unit's side that is its own, or near enough to be
-- taken for one; then what command brings, and the verdict last. A counter that does not
-- tell its Division, Formation, stripe or command range is named, and nothing is assumed.
-- Corps Artillery is a unit whose Division is called a corps.

drop type if exists css.allegiance cascade;
create type css.allegiance as (
  division text,
  formation text,
  stripe text
);

comment on type css.allegiance is
'Whose a counter is, as far as it tells.';
comment on column css.allegiance.division is 'Its Division; empty is none, null is not told';
comment on column css.allegiance.stripe is 'formation, white or none; null is not told';

create or replace function css._division(attributes jsonb, kind text)
returns text
language sql immutable parallel safe
-- 24.0: an Ambush Unit has no parent
return case when kind = 'ambush' then '' else attributes ->> 'division' end;

comment on function css._division(jsonb, text) is
'The Division of a counter; empty is none, null is not told.';

create or replace function css._stripe(attributes jsonb, kind text)
returns text
language sql immutable parallel safe
return coalesce(
  case
    when kind = 'ambush' then 'white'
    -- 12.4.1: a tank Support Weapon is a No-Stripe one
    when kind = 'support_weapon' and attributes ->> 'target' = 'tank' then 'none'
    else attributes ->> 'stripe'
  end,
  case when attributes ->> 'formation' is not null then 'formation' end
);

comment on function css._stripe(jsonb, text) is
'The stripe of a counter: formation, white or none; a Formation that is told stands for its stripe.';

create or replace function css._command_facts(attributes jsonb, kind text)
returns setof css.allegiance
language sql immutable parallel safe rows 1
as $$
  select css._division(attributes, kind), attributes ->> 'formation', css._stripe(attributes, kind)
$$;

comment on function css._command_facts(jsonb, text) is
'Whose a counter is; a Formation that is told stands for its stripe.';

create or replace function css._apart(unit css.allegiance, head css.allegiance)
returns boolean
language sql immutable parallel safe
return coalesce(unit.division <> head.division, unit.division = '', false);

comment on function css._apart(css.allegiance, css.allegiance) is
'Whether a unit is known to be of another Division than an HQ or Leader.';

create or replace function css._akin(unit css.allegiance, head css.allegiance)
returns boolean
language sql immutable parallel safe
-- 2.0: a No-Stripe counter is part of every Formation of its Division
return not css._apart(unit, head)
and case
  when 'none' in (unit.stripe, head.stripe) or (unit.stripe = 'white' and head.stripe = 'white')
    then unit.division = head.division
  when unit.stripe = 'white' or head.stripe = 'white' then false
  else unit.formation = head.formation
end;

comment on function css._akin(css.allegiance, css.allegiance) is
'Whether a unit and a Leader are of one Formation, or both White-Stripe counters of one Division; null is not told.';

create or replace function css._tie(office text, unit css.allegiance, head css.allegiance, reading text)
returns text
language sql immutable parallel safe
return case
  when office = 'formation_hq' then
    case
      when unit.formation = head.formation and unit.stripe = 'formation' and not css._apart(unit, head) then 'own'
      when unit.stripe = 'none' and unit.division = head.division then 'every'
      when css._apart(unit, head) then 'division'
      when unit.stripe = 'white' then 'white'
      when unit.formation <> head.formation then 'formation'
    end
  -- css-65: whom a Leader commands
  when office = 'leader' and reading = 'b' then 'side'
  when office = 'leader' and reading = 'c' then
    case
      when css._akin(unit, head) then 'own'
      when css._apart(unit, head) then 'division'
      when not css._akin(unit, head) then 'formation'
    end
  when unit.division = head.division then 'own'
  when office = 'leader' and head.stripe = 'none' then 'no_stripe'
  when office = 'leader' and unit.formation = head.formation and not css._apart(unit, head) then 'own'
  when css._apart(unit, head) and (office = 'division_hq' or head.stripe is not null) then 'division'
end;

comment on function css._tie(text, css.allegiance, css.allegiance, text) is
'What an HQ or Leader is to a unit, as css-65 is read: its own, every (of a No-Stripe unit), no_stripe (a No-Stripe Leader), side (any Leader), formation or division (of another), white; null is not told.';

create or replace function css._untold_tie(
  office text, unit text, hers css.allegiance, head text, his css.allegiance
)
returns text
language sql immutable parallel safe
return case
  when hers.division is null and (office <> 'formation_hq' or hers.stripe = 'none')
    then format('the Division of %s', unit)
  when his.division is null and (office <> 'formation_hq' or hers.stripe = 'none')
    then format('the Division of %s', head)
  when office = 'leader' and his.stripe is not null and hers.stripe is null then format('the stripe of %s', unit)
  when office = 'leader' then format('the stripe of %s', head)
  when his.formation is null then format('the Formation of %s', head)
  when hers.stripe is null then format('the stripe of %s', unit)
  else format('the Formation of %s', unit)
end;

comment on function css._untold_tie(text, text, css.allegiance, text, css.allegiance) is
'What a counter does not tell, and would have to, for an HQ or Leader to be known as a unit''s own.';

drop type if exists css.head cascade;
create type css.head as (
  code text,
  label text,
  away integer,
  reach integer,
  office text,
  tie text,
  disputed boolean,
  untold text
);

comment on type css.head is
'An HQ or Leader as a unit sees it: how far he is and how far he commands, and what he is to it.';
comment on column css.head.office is 'formation_hq, division_hq or leader';
comment on column css.head.tie is 'What he is to the unit: css._tie';
comment on column css.head.disputed is 'Whether he is a Leader whom the readings of css-65 take differently';
comment on column css.head.untold is 'What a counter does not tell, and would have to, where his tie is not known';

create or replace function css._heads(position_id bigint, unit text, readings jsonb)
returns setof css.head
language sql stable rows 8
as $$
  select
    head.code,
    hex.label,
    lattice.distance(asked.q, asked.r, head.q, head.r),
    case when head.kind = 'leader' then 1 else (head.attributes ->> 'command_range')::integer end,
    office.name,
    case
      when head.id = asked.id then 'own' else css._tie(office.name, hers, his, _heads.readings ->> 'css-65')
    end,
    office.name = 'leader' and css._akin(hers, his) is not true,
    css._untold_tie(office.name, asked.code, hers, head.code, his)
  from public.unit as asked
  inner join public.unit as head
    on head.position_id = asked.position_id
      and head.side = asked.side
      and head.kind in ('hq', 'leader')
      and (head.id <> asked.id or head.kind = 'hq')
  inner join public.hex on hex.map_id = head.map_id and hex.q = head.q and hex.r = head.r
  cross join lateral css._command_facts(asked.attributes, asked.kind) as hers
  cross join lateral css._command_facts(head.attributes, head.kind) as his
  cross join lateral (
    select
      case
        when head.kind = 'leader' then 'leader'
        -- 5.3: a Division HQ is White-Striped
        when his.stripe = 'formation' then 'formation_hq'
        else 'division_hq'
      end as name
  ) as office
  where asked.position_id = _heads.position_id
    and asked.code = _heads.unit
    and asked.q is not null
$$;

comment on function css._heads(bigint, text, jsonb) is
'The HQs and Leaders of a unit''s side, how far each is, and whether he is its own as css-65 is read.';

create or replace function css._is_own(tie text)
returns boolean
language sql immutable parallel safe
return tie in ('own', 'every', 'no_stripe', 'side');

comment on function css._is_own(text) is
'Whether an HQ or Leader of that tie commands the unit, if it is near enough; null is not told.';

create or replace function css._commands(head css.head)
returns text
language sql immutable parallel safe
return case
  -- its own hex is in any range
  when head.away = 0 or head.away <= head.reach then
    case
      when css._is_own(head.tie) then 'commands'
      when head.tie is null then 'unknown'
      else 'does not command'
    end
  when head.away > head.reach then 'does not command'
  when head.tie is null or css._is_own(head.tie) then 'unknown'
  else 'does not command'
end;

comment on function css._commands(css.head) is
'Whether an HQ or Leader commands a unit: commands, does not command or unknown (5.1, 13.2).';

create or replace function css._head_note(head css.head)
returns text
language sql immutable parallel safe
return format(
  '%s, %s: range %s%s%s',
  head.code,
  case
    when head.tie = 'formation' then 'of another Formation'
    when head.tie = 'division' then 'not of its Division'
    when head.tie = 'white' then 'a Formation HQ, to which no White-Stripe unit belongs'
    when head.tie = 'every' then 'a Formation HQ, to all of which a No-Stripe unit belongs'
    when head.tie = 'no_stripe' then 'a No-Stripe Leader'
    when head.tie = 'side' then 'a Leader of its side'
    when head.office = 'leader' then 'a Leader of its Division'
    when head.office = 'division_hq' then 'its Division HQ'
    else 'its Formation HQ'
  end,
  head.away,
  ', command range ' || head.reach,
  case when head.away > head.reach then format(', %s too far', head.away - head.reach) end
);

comment on function css._head_note(css.head) is
'Who an HQ or Leader is to a unit, and how far away, in words.';

create or replace function css._command_steps(heads css.head[], readings jsonb)
returns setof rulings.command_step
language sql immutable rows 4
as $$
  select
    case
      when head.tie = 'every' then '2.0'
      when head.office = 'leader' and judged.effect = 'commands' then '13.2'
      when head.office = 'leader' and _command_steps.readings ->> 'css-65' = 'c' then '13.0'
      else '5.1'
    end,
    null,
    head.label,
    judged.effect,
    case
      when judged.effect = 'unknown' and head.tie is null then head.untold
      when judged.effect = 'unknown' then format('the command range of %s', head.code)
      else css._head_note(head)
    end,
    case when head.disputed and not judged.far then 'css-65' end,
    head.code
  from unnest(heads) as head
  cross join lateral (
    select
      css._commands(head) as effect,
      coalesce(head.away > head.reach, false) as far
  ) as judged
  -- another's HQ or Leader speaks only where he could be taken for the unit's own
  where css._is_own(head.tie) or not judged.far
  order by head.away, head.code
$$;

comment on function css._command_steps(css.head[], jsonb) is
'Whether each HQ and Leader who is a unit''s own, or might be taken for one, commands it.';

create or replace function css._payer_steps(unit positions.counter)
returns setof rulings.command_step
language sql stable rows 1
as $$
  select
    '24.2',
    null,
    hex.label,
    case when payer.attributes ->> 'posture' = 'deployed' then 'pays' else 'may pay' end,
    format(
      case
        when payer.attributes ->> 'posture' = 'deployed' then 'the Division of %s, adjacent and Deployed, may pay'
        else 'if %s, whose posture is not told, is Deployed, its Division may pay'
      end,
      payer.code
    ),
    null,
    payer.code
  from public.unit as payer
  inner join public.hex on hex.map_id = payer.map_id and hex.q = payer.q and hex.r = payer.r
  where payer.position_id = unit.position_id
    and payer.side = unit.side
    and payer.kind not in ('ambush', 'leader', 'hero', 'support_weapon')
    and payer.attributes ->> 'posture' is distinct from 'column'
    and lattice.distance(unit.q, unit.r, payer.q, payer.r) = 1
  order by payer.code
$$;

comment on function css._payer_steps(positions.counter) is
'Whose Divisions may pay for an Ambush Unit: those of regular Deployed units beside it (24.2).';

create or replace function css._chit(conditions jsonb)
returns text
language sql immutable parallel safe
-- 5.1: where only those who are Active are told, they tell what made them so
return coalesce(
  conditions ->> 'activation',
  case
    when jsonb_typeof(conditions -> 'active') is distinct from 'object' then null
    when conditions -> 'active' ? 'formation' then 'formation'
    when conditions -> 'active' ? 'division' then 'division'
    when conditions -> 'active' ?| array['side', 'units'] then 'direct_command'
  end
);

comment on function css._chit(jsonb) is
'The chit that is played, division, formation, direct_command or amphibious; null where nothing tells it (4.0 2C, 5.1).';

create or replace function css._is_corps(attributes jsonb)
returns boolean
language sql immutable parallel safe
return coalesce((attributes ->> 'corps')::boolean, false) or coalesce(attributes ->> 'division' ~* '\mcorps\M', false);

comment on function css._is_corps(jsonb) is
'Whether a counter is Marine Corps Artillery or a Corps truck (26.0).';

create or replace function css._acts_on_command_alone(kind text, attributes jsonb)
returns boolean
language sql immutable parallel safe
return kind = 'ambush' or css._is_corps(attributes);

comment on function css._acts_on_command_alone(text, jsonb) is
'Whether a unit is Active on the Direct Command chit alone: an Ambush Unit, Corps Artillery, a Corps truck (24.2, 26.0).';

create or replace function css._chosen_payer(kind text, attributes jsonb)
returns text
language sql immutable parallel safe
return case when kind = 'ambush' then 'ambush' when css._is_corps(attributes) then 'corps' end;

comment on function css._chosen_payer(text, jsonb) is
'Of a unit for whose Actions its player chooses who pays: ambush or corps, under which a cost has it (24.2, 26.0).';

create or replace function css._command_gifts(unit positions.counter, steps rulings.command_step[])
returns setof rulings.command_step
language plpgsql stable rows 2
as $$
declare
  is_ambush boolean := unit.kind = 'ambush';
  is_corps boolean := css._is_corps(unit.attributes);
begin
  if is_ambush then
    return next row(
      '24.2', null, unit.label, 'direct command only',
      'an Ambush Unit acts on the Direct Command Chit alone, beside a regular Deployed unit', null, null
    )::rulings.command_step;
    return query
    select * from css._payer_steps(unit);
  elsif is_corps then
    return next row(
      '26.0', null, unit.label, 'direct command only',
      'Corps Artillery acts on the Direct Command Chit alone; either Marine Division pays', null, null
    )::rulings.command_step;
  elsif not is_ambush and exists (select from unnest(steps) as step where step.effect = 'commands') then
    return next row(
      '5.1', null, unit.label, 'gives second action', 'on its Division''s or Formation''s Chit, for 1 Direct Command',
      null, null
    )::rulings.command_step;
  end if;
end
$$;

comment on function css._command_gifts(positions.counter, rulings.command_step[]) is
'What command brings a unit: a second action (5.1), or the Direct Command Chit alone (24.2, 26.0).';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function css.command(
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
  readings jsonb := positions.readings(command.position_id, command.policy);
  asked positions.counter := positions._asked_counter(command.position_id, command.unit);
  heads css.head[] := array(select head from css._heads(command.position_id, command.unit, readings) as head);
  steps rulings.command_step[] := array(select step from css._command_steps(heads, readings) as step);
begin
  return query
  select * from unnest(steps)
  union all
  select * from css._command_gifts(asked, steps);
  return next positions._command_verdict(
    asked, steps, '5.1', 'one HQ or Leader of its own is enough', 'no HQ or Leader of its own is near enough'
  );
end
$$;

comment on function css.command(bigint, text, jsonb, jsonb) is
'Whether a unit is In-Command, and of whom: a row for every rule that speaks, the verdict last.';
