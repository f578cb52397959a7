-- needs: css/command.sql, css/mover.sql, css/passage.sql
-- Who stands together in css (Guam) when an Activation ends: 6.1, 6.1.2, 6.3, 12.1, 10.2.3.
--
-- Too many units and mixed Formations are no offence: they disorganize the hex, once. What a hex has paid for
-- before is told with the position (`stacked` of its conditions). The outside of a cave hex and the inside of
-- its cave are two places.

create or replace function css._stacked(position_id bigint, hex text)
returns table (
  map_id bigint,
  label text,
  q integer,
  r integer,
  inside boolean,
  units integer,
  sides integer,
  weapons integer,
  navy boolean,
  army boolean,
  -- untold where both services could be there
  untold_service boolean,
  formations integer,
  mixed boolean,
  -- 9.6.3: a Gyokusai marker lies here
  desperate boolean
)
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
  ),
  counter as (
    select
      unit.side,
      css._is_unit(unit.kind) as counts,
      unit.kind = 'support_weapon' as weapon,
      unit.attributes ->> 'service' as service,
      -- 24.0: an Ambush Unit belongs to nobody
      unit.kind <> 'ambush' and css._is_unit(unit.kind) as belongs,
      facts.division,
      case when facts.stripe = 'formation' then facts.formation end as formation,
      facts.stripe is null
      or facts.division is null
      or (facts.stripe = 'formation' and facts.formation is null) as untold
    from spot
    inner join public.unit
      on unit.position_id = _stacked.position_id and unit.q = spot.q and unit.r = spot.r
    cross join lateral css._command_facts(unit.attributes, unit.kind) as facts
    where coalesce((unit.attributes ->> 'in_cave')::boolean, false) = spot.inside
  )
  select
    spot.map_id,
    spot.label,
    spot.q,
    spot.r,
    spot.inside,
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
  cross join (
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
    from counter
  ) as sums
$$;

comment on function css._stacked(bigint, text) is
'Who stands in a hex, or inside its cave where a unit there is asked about: how many, and whose.';

create or replace function css._stack_dg(
  over integer, mixed boolean, paid_over integer, paid_mixed boolean, disorder integer, readings jsonb
)
returns table (for_over integer, for_mixed integer)
language sql immutable parallel safe rows 1
as $$
  select
    greatest(over - paid_over, 0),
    case
      when mixed is null then null
      when not mixed then 0
      when not paid_mixed then 1
      -- css-20 b: once it is rallied away it comes back
      when readings ->> 'css-20' = 'b' and disorder = 0 then 1
      else 0
    end
$$;

comment on function css._stack_dg(integer, boolean, integer, boolean, integer, jsonb) is
'DG that a stack is given: for units over the limit, and for mixed Formations; null where that is not told (6.1).';

create or replace function css.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  step rulings.ledger_step;
  found record;
  now jsonb;
  readings jsonb;
  paid jsonb;
  lost text;
  -- 6.1: three in a hex, 6.3: two inside a cave
  most integer;
  over integer;
  disorder integer;
  checked boolean;
  given record;
  after integer;
begin
  select
    coalesce(stack.conditions, position.conditions),
    positions.readings(position.id, stack.policy)
  into now, readings
  from public.position
  where position.id = stack.position_id;
  select * into found from css._stacked(position_id, hex);
  if found.label is null then
    raise exception 'no hex or unit % on the map of this position', hex using errcode = 'no_data_found';
  end if;
  select told.label into lost
  from jsonb_object_keys(now -> 'stacked') as told (label)
  where not exists (
    select from public.hex as known where known.map_id = found.map_id and known.label = told.label
  );
  if lost is not null then
    raise exception 'there is no hex % on the map, of which stacked tells', lost using errcode = 'no_data_found';
  end if;
  most := case when found.inside then 2 else 3 end;
  over := greatest(found.units - most, 0);
  disorder := css._dg_at(position_id, found.q, found.r, found.inside);
  paid := now -> 'stacked' -> found.label;
  -- css-21 b: at the end of a Division's or Formation's activation only
  checked := readings ->> 'css-21' = 'a' or coalesce(now ->> 'activation' in ('division', 'formation'), true);
  select * into given
  from css._stack_dg(
    case when found.inside then 0 else over end,
    found.mixed and not found.desperate,
    coalesce((paid ->> 'over')::integer, 0),
    coalesce((paid ->> 'mixed')::boolean, false),
    disorder,
    readings
  );
  if not checked then
    given.for_over := 0;
    given.for_mixed := 0;
  end if;
  after := disorder + given.for_over + coalesce(given.for_mixed, 0);

  for step.rule, step.effect, step.note, step.point in
    select said.rule, said.effect, said.note, said.point
    from (
      values
      (
        true,
        case when found.inside then '6.3' else '6.1' end,
        'limit',
        format('%s of %s units', found.units, most),
        null
      ),
      (found.sides > 1, '9.0', 'forbids', 'both sides stand here', null),
      (found.inside and over > 0, '6.3', 'forbids', 'never more than two inside a cave', null),
      (found.navy and found.army, '6.1.2', 'forbids', 'navy and army do not stack', null),
      (
        found.navy and not found.army and found.untold_service,
        '6.1.2', 'unknown', 'whether a unit beside the navy is of the army', null
      ),
      (
        now ->> 'activation' in ('direct_command', 'amphibious') and (over > 0 or found.mixed),
        '6.1',
        case when checked then 'checked' else 'not checked' end,
        'an activation of neither division nor formation ends',
        'css-21'
      ),
      (given.for_over > 0, '6.1', '+' || given.for_over, 'DG for units over the limit', null),
      (
        checked and not found.inside and over > 0 and given.for_over = 0,
        '6.1', '+0', 'it has been disorganized for these units before', null
      ),
      (given.for_mixed > 0, '6.1', '+' || given.for_mixed, 'DG for mixed formations', null),
      (
        coalesce((paid ->> 'mixed')::boolean, false) and found.mixed and not found.desperate and checked,
        '6.1',
        case when given.for_mixed > 0 then 'returns' else '+0' end,
        'it has been disorganized for mixed formations before',
        'css-20'
      ),
      (found.mixed and found.desperate, '9.6.3', '+0', 'under a gyokusai marker formations mix freely', null),
      (given.for_mixed is null, '6.1', 'unknown', 'of which formation every unit is', null),
      (after > 4, '10.2.3', 'eliminates', format('%s over DG4: as many units are lost', after - 4), null),
      (
        found.weapons > found.units,
        '12.1', 'removes', 'more support weapons than units: the rest go to the Reallocating box', null
      )
    ) as said (speaks, rule, effect, note, point)
    where said.speaks
  loop
    step.at := css._place(found.label, found.inside);
    return next step;
  end loop;
  step.rule := case when found.inside then '6.3' else '6.1' end;
  step.at := css._place(found.label, found.inside);
  step.effect := case
    when found.sides > 1 or (found.inside and over > 0) or (found.navy and found.army) then 'illegal'
    when found.navy and found.untold_service then 'unknown'
    else 'legal'
  end;
  step.note := format('%s here, %s stand without harm', found.units, most);
  step.point := null;
  step.facts := jsonb_build_object(
    'units', found.units,
    'limit', most,
    'over', over,
    'formations', found.formations,
    'mixed', found.mixed,
    'dg', case when given.for_mixed is not null then least(after, 4) end,
    'added', given.for_over + given.for_mixed,
    'eliminated', case when given.for_mixed is not null then greatest(after - 4, 0) end
  );
  return next step;
end
$$;

comment on function css.stack(bigint, text, jsonb, jsonb) is
'Who stands together in a hex when an activation ends, and how it is disorganized for that; the verdict last.';
