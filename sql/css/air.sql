-- needs: css/indirect_fire.sql, css/status.sql
-- Air power, smoke and wind in css (Guam): 4.0, 6.2.1, 6.3, 8.7.2, 8.8.1, 16.0.

create or replace function css.air_support(position_id bigint, die integer, conditions jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
declare
  operational boolean;
  rolled integer;
  bar text := case
    when css._is_night(conditions) then 'no Air Support at night'
    when conditions ->> 'weather' in ('rain', 'tropical_storm') then 'no Air Support in this weather'
  end;
begin
  operational := exists (
    select
    from public.marker
    where marker.position_id = air_support.position_id and marker.kind = 'orote_operational'
  );
  rolled := die - case when operational then 2 else 0 end;
  if operational then
    return next css._entry('11.3.3', null, 'adds', 'Orote Airfield is operational', null, -4);
  end if;
  return next css._sum(
    '16.0', case when bar is null then 'received' else 'refused' end, coalesce(bar, format('a roll of %s', rolled)),
    jsonb_build_object(
      'allowed', bar is null,
      'roll', rolled,
      'markers', css._number(css._cell(null, 'air_strikes_table', rolled::text, 'markers')),
      'cost_each', css._number(css._cell(null, 'weather_effects', coalesce(conditions ->> 'weather', 'clear'), 'direct_command_cost'))
    )
  );
end
$$;

comment on function css.air_support(bigint, integer, jsonb) is
'How many air markers a roll brings, and what each costs (11.3.3, 16.0).';

create or replace function css.air_payers(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 16.0, css-80: who may pay for air markers, and how much
  select (css._sum(
    '16.0', 'costs', 'who may pay',
    jsonb_build_object(
      'known', count(display.name) > 0,
      'divisions', coalesce(jsonb_agg(display.name order by display.place) filter (where ready.here), '[]'),
      'barred', coalesce(jsonb_object_agg(display.name, 'has no HQ on the map') filter (where not ready.here), '{}'),
      'left', coalesce(
        jsonb_object_agg(display.name, display.direct_commands) filter (where display.direct_commands is not null), '{}'
      ),
      'each', css._number(css._cell(null, 'weather_effects', coalesce(state.conditions ->> 'weather', 'clear'), 'direct_command_cost')),
      'once', state.readings ->> 'css-80' = 'b',
      'first', true,
      'point', true
    )
  )).*
  from positions.state(air_payers.position_id, air_payers.conditions, air_payers.policy) as state
  left join lateral css._displays(state) as display on display.side = 'us'
  left join lateral (
    select
      state.readings ->> 'css-80' = 'b'
      or exists (
        select
        from public.unit as hq
        where hq.position_id = state.position_id
          and hq.kind = 'hq'
          and hq.q is not null
          and hq.attributes ->> 'division' = display.name
      ) as here
  ) as ready on true
  group by state.readings, state.conditions
$$;

comment on function css.air_payers(bigint, jsonb, jsonb) is
'Which American Divisions may pay for air markers, and the price of each (16.0, css-80).';

create or replace function css.air_strike(
  position_id bigint, strike jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  named css.piece;
  place record;
  targets css.piece[];
  hides boolean;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  if strike ? 'target' then
    named := css._piece_of(position_id, strike ->> 'target');
  end if;
  select hex.q, hex.r, hex.label, hex.terrain into place
  from positions.place(position_id, coalesce(strike ->> 'target', strike ->> 'at')) as found_one
  inner join public.hex on hex.map_id = state.map_id and hex.q = found_one.q and hex.r = found_one.r;
  targets := array(
    select unit from css._pieces(position_id, place.q, place.r, false) as unit where unit.side = 'japan' and unit.is_unit
  );
  hides := exists (
    select from unnest(targets) as unit
    where coalesce((unit.attributes ->> 'hidden')::boolean, false) and unit.posture = 'deployed'
  ) and cardinality(targets) = 1;
  bars := array(
    select css._entry(bar.rule, null, case when bar.bars then 'forbids' else 'passes' end, bar.note, named.code, null, bar.point, place.label)
    from (
      values
      ('16.0', named.code is not null and not named.hard, true, 'only a Hard Target is struck by itself', null),
      ('12.4.1', named.kind = 'support_weapon', true, 'a Support Weapon is not struck by itself', null),
      ('6.3', coalesce(named.inside, false) or (cardinality(targets) = 0 and exists (
        select from css._pieces(position_id, place.q, place.r, true) as unit where unit.side = 'japan'
      )), true, 'who is inside a cave is not struck', null),
      ('16.0', cardinality(targets) = 0 and not coalesce(named.inside, false), true, 'there is no Japanese Unit', null),
      ('6.2.1', hides, state.readings ->> 'css-82' = 'a', 'the unit there hides in the mangrove', 'css-82'),
      -- of the markers that one chit places; one out of the Interdiction box is placed nowhere
      ('16.0', not strike ? 'interdicts' and exists (
        select
        from public.marker
        where marker.position_id = position_id and marker.kind = 'air_strike' and (marker.q, marker.r) = (place.q, place.r)
      ), true, 'an Air Strike marker lies there already', null)
    ) as bar (rule, holds, bars, note, point)
    where bar.holds
  );
  return query select * from unnest(bars);
  bars := array(select bar from unnest(bars) as bar where bar.effect = 'forbids');
  return next css._sum(
    coalesce(bars[1].rule, '16.0'), case when cardinality(bars) = 0 then 'strikes' else 'refused' end,
    coalesce(bars[1].note, 'strength 6, no modifiers'),
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'value', 6,
      'type', case when named.code is null then 'high_explosive' else 'armor_piercing' end,
      'side', 'us', 'enemy', 'japan', 'hex', place.label, 'inside', false, 'at_sea', null, 'named', named.code,
      'target_unit', named.code, 'flame', false,
      'units', to_jsonb(array(select unit.code from unnest(targets) as unit)),
      'column', to_jsonb(array(select unit.code from unnest(targets) as unit where unit.posture = 'column'))
    ),
    place.label
  );
end
$$;

comment on function css.air_strike(bigint, jsonb, jsonb, jsonb) is
'Whether a hex or a Hard Target may be struck from the air, and with what (6.3, 16.0, css-82).';

create or replace function css.smoke(
  position_id bigint, by text, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  unit css.piece := css._piece_of(position_id, by);
  here css.footing;
  there css.footing;
  place record;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  here := css._footing(position_id, state.map_id, unit.q, unit.r, unit.inside);
  select found_one.q, found_one.r into place from positions.place(position_id, at) as found_one;
  there := css._footing(position_id, state.map_id, place.q, place.r, false);
  bars := array(
    select css._entry(bar.rule, null, 'forbids', bar.note, unit.code, null, bar.point, there.label)
    from (
      values
      ('2.0', not unit.is_unit or unit.q is null, 'a Unit on the map lays smoke', null),
      ('10.2.1', here.suppressed or unit.suppressed, 'it is Suppressed', null),
      ('8.7.2', lattice.distance(unit.q, unit.r, there.q, there.r) > 1, 'smoke is laid in its own hex or beside it', null),
      (
        '8.2',
        coalesce(state.conditions -> 'fired' ? here.label, false)
        and (state.readings ->> 'css-18' = 'b' or not css._is_second(state.conditions, unit.code)),
        'its hex has fired in this Activation', 'css-18'
      )
    ) as bar (rule, holds, note, point)
    where bar.holds
  ) || css._actor_bars(state, array[unit]);
  return query select * from unnest(bars);
  return next css._sum(
    coalesce(bars[1].rule, '8.7.2'), case when cardinality(bars) = 0 then 'placed' else 'refused' end,
    coalesce(bars[1].note, 'smoke'),
    jsonb_build_object(
      'allowed', cardinality(bars) = 0, 'from', here.label, 'hex', there.label, 'barrage', 'smoke_barrage',
      'strength', 0, 'cost', css._cost(state.conditions, array[unit])
    ),
    there.label
  );
end
$$;

comment on function css.smoke(bigint, text, text, jsonb, jsonb) is
'Whether a unit may lay smoke in its hex or beside it (8.7.2).';

create or replace function css._burnable(position_id bigint, map_id bigint, q integer, r integer)
returns text
language plpgsql stable
as $$
begin
  return (
  select hex.label
    from public.hex
    where hex.map_id = _burnable.map_id
      and hex.q = _burnable.q
      and hex.r = _burnable.r
      and hex.terrain in ('sugar_cane', 'town', 'buildings', 'brush')
      and 'cave' <> all(hex.features)
      and not exists (
        select
        from public.marker
        where marker.position_id = _burnable.position_id
          and marker.q = hex.q
          and marker.r = hex.r
          and marker.kind in ('on_fire', 'fire_cleared')
      )
  );
end
$$;

comment on function css._burnable(bigint, bigint, integer, integer) is
'A hex that can catch fire, by its label; null where it cannot, or burns or is burnt already (8.8, 8.8.1).';

create or replace function css.wind(position_id bigint, hex text, die integer, conditions jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 8.8.1: one fire; a hot day makes both ends wider
  select (css._entry('8.8.1', null, 'wider', 'a hot day')).*
  where wind.conditions ->> 'weather' = 'hot'
  union all
  select (css._sum(
    '8.8.1', fire.result,
    case fire.result
      when 'cleared' then format('%s: the fire burns out', die)
      when 'spreads' then format('%s: the fire spreads', die)
      else format('%s: it goes on burning', die)
    end,
    jsonb_build_object('result', fire.result, 'to', to_jsonb(fire.ways)), wind.hex
  )).*
  from public.position
  inner join public.hex as burning on burning.map_id = position.map_id and burning.label = wind.hex
  cross join lateral (
    -- north-west, then south-west
    select array_remove(
      array[
        css._burnable(position.id, position.map_id, burning.q + lattice.step_q(6), burning.r + lattice.step_r(6)),
        css._burnable(position.id, position.map_id, burning.q + lattice.step_q(5), burning.r + lattice.step_r(5))
      ],
      null
    ) as ways
  ) as beside
  cross join lateral (
    select
      case
        when die <= case when wind.conditions ->> 'weather' = 'hot' then 3 else 2 end then 'cleared'
        when die >= case when wind.conditions ->> 'weather' = 'hot' then 7 else 8 end and beside.ways <> '{}' then 'spreads'
        else 'burns'
      end as result,
      beside.ways
  ) as fire
  where position.id = wind.position_id
$$;

comment on function css.wind(bigint, text, integer, jsonb) is
'What the wind does to a fire: it burns out, goes on, or spreads north-west or south-west (8.8.1).';
