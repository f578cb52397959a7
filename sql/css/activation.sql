-- needs: css/command.sql, css/points.sql, css/stack.sql
-- Who is Active in css (Guam), what that takes off and costs, and what the end of an Activation does: 4.0 2C, 5.1,
-- 5.3, 6.1, 8.8.1, 9.2, 12.1, 24.2, 26.0.

drop type if exists css.activated cascade;
create type css.activated as (
  code text,
  kind text,
  label text,
  box text,
  why text
);

comment on type css.activated is
'A counter that a chit makes Active, and why.';
comment on column css.activated.why is 'division, formation, white or none, by its stripe';

create or replace function css._activated(state positions.state, division text, formation text)
returns setof css.activated
language sql stable rows 20
as $$
  select
    unit.code,
    unit.kind,
    hex.label,
    unit.attributes ->> 'box',
    facts.stripe
  from public.unit
  cross join lateral css._command_facts(unit.attributes, unit.kind) as facts
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  where unit.position_id = state.position_id
    and not css._acts_on_command_alone(unit.kind, unit.attributes)
    and unit.attributes ->> 'status' is distinct from 'eliminated'
    and coalesce(unit.attributes ->> 'box', '') not in ('off_board', 'pool')
    and case
      when _activated.formation is null then facts.division = _activated.division
      -- 5.1: a White-Stripe counter waits for the Division's chit, a No-Stripe one goes with every Formation
      when facts.stripe = 'none' then facts.division = _activated.division
      when facts.stripe = 'white' then false
      else facts.formation = _activated.formation and coalesce(facts.division = _activated.division, true)
    end
    -- 22.0: who is at sea moves on another chit; its Leaders go where they like (13.1)
    and (not unit.attributes ? 'zone' or unit.kind in ('leader', 'hero'))
  order by unit.id
$$;

comment on function css._activated(positions.state, text, text) is
'The counters that a Division''s or a Formation''s chit makes Active (5.1, 24.2, 26.0).';

create or replace function css._cleared_markers(state positions.state, labels text[])
returns jsonb
language sql stable
as $$
  select coalesce(
    jsonb_agg(jsonb_build_object('marker', marker.kind, 'at', hex.label) order by hex.label, marker.kind), '[]'
  )
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = state.position_id
    and marker.kind in ('concentrated_fire', 'sustained_fire', 'no_opportunity_fire')
    and hex.label = any(labels)
$$;

comment on function css._cleared_markers(positions.state, text[]) is
'Fire markers that come off the hexes of Active Units (4.0 2C v e).';

create or replace function css._is_beset(unit positions.counter)
returns boolean
language sql stable
return coalesce(unit.attributes #>> '{fire,type}' = 'indirect', false) and exists (
  select
  from lattice.neighbours(unit.q, unit.r) as beside
  where css._held_by(unit.position_id, case unit.side when 'us' then 'japan' else 'us' end, beside.nq, beside.nr)
);

comment on function css._is_beset(positions.counter) is
'Whether it is an indirect unit with an enemy beside it, which flips to Column as soon as it is Active (8.7.5).';

create or replace function css._forced(state positions.state, codes text[])
returns jsonb
language sql stable
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object('unit', unit.code, 'at', unit.label, 'eliminated', unit.attributes ->> 'column' is not distinct from 'none')
      order by named.n
    ), '[]'
  )
  from unnest(codes) with ordinality as named (code, n)
  cross join lateral positions.counter(state.position_id, named.code) as unit
  where unit.q is not null
    and unit.attributes ->> 'posture' = 'deployed'
    and css._is_beset(unit)
$$;

comment on function css._forced(positions.state, text[]) is
'Units that have to flip to Column as they become Active, and whether they have such a side (8.7.5).';

create or replace function css.activate(
  position_id bigint, division text, formation text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  state positions.state;
  active css.activated[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  active := array(select one from css._activated(state, division, formation) as one);
  return query
  select (css._entry(
    '5.1', null, 'active',
    case
      when formation is null then 'of the Division'
      when one.why = 'none' then 'a No-Stripe counter goes with every Formation of its Division'
      else 'of the Formation'
    end,
    one.code, null, null, one.label
  )).*
  from unnest(active) as one;
  return query
  select (css._entry(
    '5.1', null, 'inactive', 'a White-Stripe counter waits for the chit of its Division', unit.code
  )).*
  from public.unit
  cross join lateral css._command_facts(unit.attributes, unit.kind) as facts
  where unit.position_id = position_id
    and formation is not null
    and facts.division = division
    and facts.stripe = 'white'
  order by unit.id;
  return next css._sum(
    '5.1', 'active', concat_ws('/', division, formation),
    jsonb_build_object(
      'units', (
        select coalesce(jsonb_agg(one.code), '[]') from unnest(active) as one
        where one.kind not in ('leader', 'hero', 'support_weapon')
      ),
      'weapons', (
        select coalesce(jsonb_agg(one.code), '[]') from unnest(active) as one where one.kind = 'support_weapon'
      ),
      'leaders', (
        select coalesce(jsonb_agg(one.code), '[]') from unnest(active) as one where one.kind in ('leader', 'hero')
      ),
      'cost', '{}'::jsonb,
      'restock', (
        select coalesce(jsonb_agg(one.code), '[]') from unnest(active) as one
        where one.kind = 'support_weapon' and one.box = 'reallocating'
      ),
      'forced', css._forced(state, array(select one.code from unnest(active) as one)),
      'markers', css._cleared_markers(state, array(
        select one.label from unnest(active) as one where one.label is not null and css._is_unit(one.kind)
      ))
    )
  );
end
$$;

comment on function css.activate(bigint, text, text, jsonb, jsonb) is
'Whom a Division''s or Formation''s chit makes Active, and which markers and weapons that moves (4.0 2C v, 5.1).';

create or replace function css._payers(state positions.state, unit positions.counter)
returns setof text
language sql stable rows 2
as $$
  select distinct payer.attributes ->> 'division'
  from css._payer_steps(unit) as step
  inner join public.unit as payer on payer.position_id = unit.position_id and payer.code = step.by
  where unit.kind = 'ambush' and step.effect = 'pays' and payer.attributes ? 'division'
  union
  -- 26.0: either Marine Division
  select display.name
  from css._displays(state) as display
  inner join public.position on position.id = state.position_id
  where css._is_corps(unit.attributes)
    and display.side = unit.side
    and coalesce(position.tracks #>> array['divisions', display.name, 'service'], 'marine') = 'marine'
    and display.name <> '77 InfDiv'
  union
  select unit.attributes ->> 'division'
  where unit.kind <> 'ambush' and not css._is_corps(unit.attributes) and unit.attributes ? 'division'
  order by 1
$$;

comment on function css._payers(positions.state, positions.counter) is
'The Divisions that may pay for a unit''s Action on the Direct Command chit (5.3, 24.2, 26.0).';

create or replace function css._activate_bars(state positions.state, unit positions.counter)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select (css._entry(bar.rule, null, 'forbids', bar.note, unit.code, null, null, unit.label)).*
  from (
    values
    (
      '5.1',
      coalesce(css._chit(state.conditions), 'direct_command') <> 'direct_command',
      'single units are activated on the Direct Command chit alone'
    ),
    ('5.1', state.conditions #>> '{active,side}' <> unit.side, 'the Direct Command chit is the other side''s'),
    ('5.1', not css._is_unit(unit.kind) and unit.kind <> 'truck', 'only Units are activated one by one'),
    ('22.0', unit.attributes ? 'zone', 'who is at sea moves on the Amphibious chit alone'),
    (
      '5.1',
      unit.q is null and coalesce(unit.attributes ->> 'box', 'off_board') not in ('routed', 'repairing'),
      'it is not in play'
    ),
    (
      '5.1',
      coalesce((state.conditions -> 'acted' ->> unit.code)::integer, 0) > 0,
      'one Action on a Direct Command, and no second'
    ),
    (
      '24.2',
      unit.kind = 'ambush' and not exists (select from css._payers(state, unit)),
      'no regular Deployed unit stands beside the Ambush Unit'
    )
  ) as bar (rule, holds, note)
  where bar.holds
$$;

comment on function css._activate_bars(positions.state, positions.counter) is
'What keeps a unit from being activated by a Direct Command (5.1, 22.0, 24.2).';

create or replace function css.activate_unit(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  bar rulings.ledger_step;
  billing constant text := case
    when asked.kind = 'ambush' then '24.2' when css._is_corps(asked.attributes) then '26.0' else '5.3'
  end;
begin
  select * into state from positions.state(position_id, conditions, policy);
  return query select * from css._activate_bars(state, asked);
  select * into bar from css._activate_bars(state, asked) limit 1;
  return query
  select (css._entry(billing, null, 'may pay', format('%s pays a Direct Command', payer), payer)).*
  from css._payers(state, asked) as payer;
  return next css._sum(
    coalesce(bar.rule, '5.1'),
    case when bar.rule is not null then 'refused' else 'active' end,
    coalesce(bar.note, format('%s acts once', unit)),
    jsonb_build_object(
      'units', jsonb_build_array(unit),
      'weapons', '[]'::jsonb,
      'leaders', '[]'::jsonb,
      'payers', (select coalesce(jsonb_agg(payer), '[]') from css._payers(state, asked) as payer),
      'rule', billing,
      'forced', css._forced(state, array[unit]),
      'markers', css._cleared_markers(state, array[asked.label])
    ),
    asked.label
  );
end
$$;

comment on function css.activate_unit(bigint, text, jsonb, jsonb) is
'Whether a Direct Command may make a unit Active, and which Divisions may pay for it (5.1, 5.3, 24.2, 26.0).';

-- The end of an Activation

create or replace function css._crowded(state positions.state)
returns setof text
language sql stable rows 5
as $$
  -- a place is a hex, or the inside of its cave by one who is in it
  select coalesce(min(unit.code) filter (where here.inside), hex.label)
  from public.unit
  inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  cross join lateral (select coalesce((unit.attributes ->> 'in_cave')::boolean, false) as inside) as here
  where unit.position_id = state.position_id
    and css._is_unit(unit.kind)
  group by hex.label, here.inside
  having count(*) > 1
  order by hex.label
$$;

comment on function css._crowded(positions.state) is
'Places where several Units stand: hexes, or for the inside of a cave one who is in it.';

create or replace function css._is_active(state positions.state, unit positions.counter)
returns boolean
-- not in SQL: a query in a scalar function is planned at every call
language plpgsql stable
as $$
declare
  active jsonb := state.conditions -> 'active';
begin
  if active is null or jsonb_typeof(active) <> 'object' then
    return true;
  end if;
  if active ? 'units' then
    return active -> 'units' ? unit.code;
  end if;
  if active ? 'division' then
    return exists (
      select
      from css._activated(state, active ->> 'division', active ->> 'formation') as one
      where one.code = unit.code
    );
  end if;
  if active ? 'side' then
    return unit.side = active ->> 'side' and coalesce((state.conditions -> 'acted' ->> unit.code)::integer, 0) > 0;
  end if;
  return true;
end
$$;

comment on function css._is_active(positions.state, positions.counter) is
'Whether a unit is Active, as far as the conditions tell; where they tell nothing it is taken to be (5.1).';

create or replace function css._scorched(state positions.state)
returns setof positions.counter
language sql stable rows 1
as $$
  select counter.*
  from public.unit
  inner join public.marker
    on unit.position_id = marker.position_id and unit.q = marker.q and unit.r = marker.r and marker.kind = 'on_fire'
  cross join lateral positions.counter(state.position_id, unit.code) as counter
  where unit.position_id = state.position_id
    and css._is_unit(unit.kind)
    and not coalesce((unit.attributes ->> 'in_cave')::boolean, false)
    and css._is_active(state, counter)
$$;

comment on function css._scorched(positions.state) is
'Active Units in a burning hex, which are lost when the Activation ends (8.8.1).';

create or replace function css._stranded_charges(state positions.state)
returns table (kind text, label text, attributes jsonb)
language sql stable rows 1
as $$
  select marker.kind, hex.label, marker.attributes
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = state.position_id
    and marker.kind in ('prepared_assault', 'banzai_charge', 'drunk_banzai_charge')
    and not exists (
      select
      from public.unit as friend
      where friend.position_id = state.position_id
        and css._is_unit(friend.kind)
        and friend.q is not null
        and (
          lattice.distance(friend.q, friend.r, marker.q, marker.r) = 1
          -- 6.3: who charges out of the cave of the hex
          or ((friend.q, friend.r) = (marker.q, marker.r) and coalesce((friend.attributes ->> 'in_cave')::boolean, false))
        )
        and friend.side = coalesce(
          marker.attributes ->> 'side', case when marker.kind = 'prepared_assault' then friend.side else 'japan' end
        )
        -- 9.2: of a marker that tells no side, whoever does not hold its hex
        and (
          marker.attributes ? 'side'
          or marker.kind <> 'prepared_assault'
          or not css._held_by(state.position_id, friend.side, marker.q, marker.r)
        )
    )
  order by hex.label
$$;

comment on function css._stranded_charges(positions.state) is
'Assault and charge markers beside which no friend is left (9.2).';

create or replace function css.may_act(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  acted integer;
  second boolean;
  by_command boolean;
  bar record;
begin
  select * into state from positions.state(position_id, conditions, policy);
  acted := coalesce((state.conditions -> 'acted' ->> unit)::integer, 0);
  second := css._is_second(state.conditions, unit);
  -- 5.1: on the chit of its side whoever is paid for acts
  by_command := coalesce(
    state.conditions #>> '{active,side}' = asked.side and not state.conditions -> 'active' ? 'units', false
  );
  for bar in
    select *
    from (
      values
      ('5.1', not by_command and not css._is_active(state, asked), format('%s is not Active', unit)),
      (
        case when asked.kind = 'ambush' then '24.2' else '26.0' end,
        css._off_its_chit(state.conditions, unit, asked.kind, asked.attributes),
        format('%s acts on the Direct Command chit alone', unit)
      ),
      ('5.2', acted > 1, format('%s has acted twice', unit)),
      (
        '5.1', acted > 0 and css._on_command(state.conditions),
        'one Action on a Direct Command, and no second'
      ),
      (
        '5.1',
        second and (
          select step.effect from css.command(position_id, unit, conditions, policy) as step
          where step.effect in ('in command', 'out of command')
        ) = 'out of command',
        format('%s is not In-Command, and has no second Action', unit)
      )
    ) as bars (rule, holds, note)
    where bars.holds
  loop
    return next css._sum(bar.rule, 'refused', bar.note, '{}', asked.label);
    return;
  end loop;
  return next css._sum(
    '5.2', case when second then 'second action' else 'first action' end, format('%s may act', unit),
    jsonb_build_object(
      'paid', second or by_command,
      'division', coalesce(css._chosen_payer(asked.kind, asked.attributes), asked.attributes ->> 'division')
    ),
    asked.label
  );
end
$$;

comment on function css.may_act(bigint, text, jsonb, jsonb) is
'Whether a unit may do an Action now, and whether it is its second, which is paid for (5.1, 5.2).';
