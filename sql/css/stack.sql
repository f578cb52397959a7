-- needs: css/command.sql, css/mover.sql, css/passage.sql, positions/state.sql
-- Who stands together in css (Guam) when an Activation ends: 6.1, 6.1.2, 6.3, 12.1, 10.2.3.
--
-- Too many units and mixed Formations are no offence: they disorganize the hex, once. What a hex has paid for
-- before is told with the position (`stacked` of its conditions). The outside of a cave hex and the inside of
-- its cave are two places.

drop type if exists css.stacked cascade;
create type css.stacked as (
  map_id bigint,
  label text,
  q integer,
  r integer,
  inside boolean,
  most integer,
  units integer,
  sides integer,
  weapons integer,
  navy boolean,
  army boolean,
  untold_service boolean,
  formations integer,
  mixed boolean,
  desperate boolean
);

comment on type css.stacked is
'Who stands in a place: how many, and whose.';
comment on column css.stacked.inside is 'Whether the place is the inside of a cave (6.3)';
comment on column css.stacked.most is 'How many Units stand there without harm (6.1, 6.3)';
comment on column css.stacked.untold_service is 'Whether the service of a Japanese Unit is not told';
comment on column css.stacked.mixed is 'Whether Formations or Divisions are mixed; null is not told';
comment on column css.stacked.desperate is 'Whether a Gyokusai marker lies here (9.6.3)';

create or replace function css._stack_counters(position_id bigint, q integer, r integer, inside boolean)
returns table (
  side text, counts boolean, weapon boolean, service text, belongs boolean, division text, formation text, untold boolean
)
language sql stable rows 3
as $$
  select
    unit.side,
    css._is_unit(unit.kind),
    unit.kind = 'support_weapon',
    unit.attributes ->> 'service',
    -- 24.0: an Ambush Unit belongs to nobody
    unit.kind <> 'ambush' and css._is_unit(unit.kind),
    facts.division,
    case when facts.stripe = 'formation' then facts.formation end,
    facts.stripe is null
    or facts.division is null
    or (facts.stripe = 'formation' and facts.formation is null)
  from public.unit
  cross join lateral css._command_facts(unit.attributes, unit.kind) as facts
  where unit.position_id = _stack_counters.position_id
    and unit.q = _stack_counters.q
    and unit.r = _stack_counters.r
    and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = _stack_counters.inside
$$;

comment on function css._stack_counters(bigint, integer, integer, boolean) is
'The counters of a place: whether each is a Unit, of whom, and whether that is told.';

create or replace function css._stacked(position_id bigint, hex text)
returns setof css.stacked
language sql stable rows 1
as $$
  with spot as (
    select
      position.map_id,
      hex.label,
      hex.q,
      hex.r,
      coalesce((place.attributes ->> 'in_cave')::boolean, false) as inside
    from public.position
    cross join positions.place(_stacked.position_id, _stacked.hex) as place
    inner join public.hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
    where position.id = _stacked.position_id
  )
  select
    spot.map_id,
    spot.label,
    spot.q,
    spot.r,
    spot.inside,
    -- 6.1: three in a hex, 6.3: two inside a cave
    case when spot.inside then 2 else 3 end,
    sums.units,
    sums.sides,
    sums.weapons,
    sums.navy,
    sums.army,
    sums.untold_service,
    sums.formations,
    case
      when sums.formations > 1 or sums.divisions > 1 then true
      when sums.belonging > 1 and sums.untold then null
      else false
    end,
    exists (
      select
      from public.marker
      where marker.position_id = _stacked.position_id
        and marker.q = spot.q
        and marker.r = spot.r
        and marker.kind = 'gyokusai'
    )
  from spot
  cross join lateral (
    select
      count(*) filter (where counter.counts)::integer as units,
      count(distinct counter.side) filter (where counter.counts)::integer as sides,
      count(*) filter (where counter.weapon)::integer as weapons,
      coalesce(bool_or(counter.counts and counter.side = 'japan' and counter.service = 'navy'), false) as navy,
      coalesce(bool_or(counter.counts and counter.side = 'japan' and counter.service <> 'navy'), false) as army,
      coalesce(bool_or(counter.counts and counter.side = 'japan' and counter.service is null), false)
      as untold_service,
      count(*) filter (where counter.belongs) as belonging,
      -- a Formation is of one Division; the same name without a Division is not counted twice
      greatest(
        count(distinct counter.formation) filter (where counter.belongs),
        count(distinct (counter.division, counter.formation)) filter (
          where counter.belongs and counter.formation is not null and counter.division is not null
        )
      )::integer as formations,
      -- 2.0: a No-Stripe unit is of every Formation of its Division; 6.1: so much for White Stripes
      count(distinct counter.division) filter (where counter.belongs) as divisions,
      coalesce(bool_or(counter.belongs and counter.untold), false) as untold
    from css._stack_counters(_stacked.position_id, spot.q, spot.r, spot.inside) as counter
  ) as sums
$$;

comment on function css._stacked(bigint, text) is
'Who stands in a hex, or inside its cave where a unit there is asked about: how many, and whose.';

drop type if exists css.stack_dg cascade;
create type css.stack_dg as (
  over integer,
  paid_mixed boolean,
  disorder integer,
  checked boolean,
  for_over integer,
  for_mixed integer,
  after integer
);

comment on type css.stack_dg is
'How a stack is disorganized: what it is over, what it has paid for before, and what it is given now.';
comment on column css.stack_dg.over is 'Units over the limit';
comment on column css.stack_dg.paid_mixed is 'Whether it has been disorganized for mixed Formations before';
comment on column css.stack_dg.disorder is 'Its DG before; after: with what it is given, over 4 where units are lost';
comment on column css.stack_dg.checked is 'Whether stacks are looked at when this activation ends (css-21)';
comment on column css.stack_dg.for_over is 'DG for units over the limit; for_mixed: for mixed Formations, null is not told';

create or replace function css._stack_dg(state positions.state, stacked css.stacked)
returns css.stack_dg
language plpgsql stable
as $$
declare
  paid constant jsonb := state.conditions -> 'stacked' -> stacked.label;
  mixed constant boolean := stacked.mixed and not stacked.desperate;
  dg css.stack_dg;
begin
  dg.over := greatest(stacked.units - stacked.most, 0);
  dg.paid_mixed := coalesce((paid ->> 'mixed')::boolean, false);
  dg.disorder := css._dg_at(state.position_id, stacked.q, stacked.r, stacked.inside);
  -- css-21 b: at the end of a Division's or Formation's activation only
  dg.checked := state.readings ->> 'css-21' = 'a'
    or coalesce(css._chit(state.conditions) in ('division', 'formation'), true);
  dg.for_over := case
    when not dg.checked or stacked.inside then 0
    else greatest(dg.over - coalesce((paid ->> 'over')::integer, 0), 0)
  end;
  dg.for_mixed := case
    when not dg.checked then 0
    when mixed is null then null
    when not mixed then 0
    when not dg.paid_mixed then 1
    -- css-20 b: once it is rallied away it comes back
    when state.readings ->> 'css-20' = 'b' and dg.disorder = 0 then 1
    else 0
  end;
  dg.after := dg.disorder + dg.for_over + coalesce(dg.for_mixed, 0);
  return dg;
end
$$;

comment on function css._stack_dg(positions.state, css.stacked) is
'DG that a stack is given: for units over the limit, and for mixed Formations; null where that is not told (6.1).';

create or replace function css._stack_steps(state positions.state, stacked css.stacked, dg css.stack_dg)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    said.rule, null, css._place(stacked.label, stacked.inside), said.effect, said.note, said.point, null, null::integer,
    null::jsonb
  from (
    values
    (
      true,
      case when stacked.inside then '6.3' else '6.1' end,
      'limit',
      format('%s of %s units', stacked.units, stacked.most),
      null
    ),
    (stacked.sides > 1, '9.0', 'forbids', 'both sides stand here', null),
    (stacked.inside and dg.over > 0, '6.3', 'forbids', 'never more than two inside a cave', null),
    (stacked.navy and stacked.army, '6.1.2', 'forbids', 'navy and army do not stack', null),
    (
      stacked.navy and not stacked.army and stacked.untold_service,
      '6.1.2', 'unknown', 'whether a unit beside the navy is of the army', null
    ),
    (
      css._chit(state.conditions) in ('direct_command', 'amphibious') and (dg.over > 0 or stacked.mixed),
      '6.1',
      case when dg.checked then 'checked' else 'not checked' end,
      'an activation of neither division nor formation ends',
      'css-21'
    ),
    (dg.for_over > 0, '6.1', '+' || dg.for_over, 'DG for units over the limit', null),
    (
      dg.checked and not stacked.inside and dg.over > 0 and dg.for_over = 0,
      '6.1', '+0', 'it has been disorganized for these units before', null
    ),
    (dg.for_mixed > 0, '6.1', '+' || dg.for_mixed, 'DG for mixed formations', null),
    (
      dg.paid_mixed and stacked.mixed and not stacked.desperate and dg.checked,
      '6.1',
      case when dg.for_mixed > 0 then 'returns' else '+0' end,
      'it has been disorganized for mixed formations before',
      'css-20'
    ),
    (stacked.mixed and stacked.desperate, '9.6.3', '+0', 'under a gyokusai marker formations mix freely', null),
    (dg.for_mixed is null, '6.1', 'unknown', 'of which formation every unit is', null),
    (dg.after > 4, '10.2.3', 'eliminates', format('%s over DG4: as many units are lost', dg.after - 4), null),
    (
      stacked.weapons > stacked.units,
      '12.1', 'removes', 'more support weapons than units: the rest go to the Reallocating box', null
    )
  ) as said (speaks, rule, effect, note, point)
  where said.speaks
$$;

comment on function css._stack_steps(positions.state, css.stacked, css.stack_dg) is
'Every rule that speaks on a stack (6.1, 6.1.2, 6.3, 9.0, 9.6.3, 10.2.3, 12.1).';

create or replace function css.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  stacked css.stacked;
  dg css.stack_dg;
  lost text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into stacked from css._stacked(position_id, hex);
  if stacked.label is null then
    raise exception 'no hex or unit % on the map of this position', hex using errcode = 'no_data_found';
  end if;
  select named.label into lost
  from jsonb_object_keys(state.conditions -> 'stacked') as named (label)
  where not exists (
    select from public.hex as known where known.map_id = stacked.map_id and known.label = named.label
  );
  if lost is not null then
    raise exception 'there is no hex % on the map, of which stacked tells', lost using errcode = 'no_data_found';
  end if;
  dg := css._stack_dg(state, stacked);
  return query select * from css._stack_steps(state, stacked, dg);
  return next row(
    case when stacked.inside then '6.3' else '6.1' end,
    null,
    css._place(stacked.label, stacked.inside),
    case
      when stacked.sides > 1 or (stacked.inside and dg.over > 0) or (stacked.navy and stacked.army) then 'illegal'
      when stacked.navy and stacked.untold_service then 'unknown'
      else 'legal'
    end,
    format('%s here, %s stand without harm', stacked.units, stacked.most),
    null,
    null,
    null,
    jsonb_build_object(
      'units', stacked.units,
      'limit', stacked.most,
      'over', dg.over,
      'formations', stacked.formations,
      'mixed', stacked.mixed,
      'dg', case when dg.for_mixed is not null then least(dg.after, 4) end,
      'added', dg.for_over + dg.for_mixed,
      'eliminated', case when dg.for_mixed is not null then greatest(dg.after - 4, 0) end
    )
  )::rulings.ledger_step;
end
$$;

comment on function css.stack(bigint, text, jsonb, jsonb) is
'Who stands together in a hex when an activation ends, and how it is disorganized for that; the verdict last.';
