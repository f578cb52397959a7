-- needs: css/arrivals.sql, css/landing.sql, css/fire_zone.sql, css/events.sql
-- Amphibious movement in css (Guam), beach by beach: landings, the run-in, the approach: 4.0, 17.0, 22.0 to 22.3.

drop type if exists css.sailor cascade;
create type css.sailor as (
  code text,
  errand text,
  beach text,
  run text,
  place integer,
  dg integer,
  pinned boolean,
  suppressed boolean,
  counts boolean
);

comment on type css.sailor is
'A counter that is to move from zone to zone: what is asked of it, and where it is.';
comment on column css.sailor.errand is 'land, run_in, approach or shift';
comment on column css.sailor.place is 'Its place in the line of the Transport Zone';

create or replace function css._sailors(position_id bigint, orders jsonb)
returns setof css.sailor
language sql stable rows 4
as $$
  select
    named.code,
    named.errand,
    unit.attributes #>> '{zone,beach}',
    unit.attributes #>> '{zone,run}',
    coalesce((unit.attributes ->> 'order')::integer, 0),
    coalesce((unit.attributes ->> 'dg')::integer, 0),
    coalesce((unit.attributes ->> 'pinned')::boolean, false),
    coalesce((unit.attributes ->> 'suppressed')::boolean, false),
    css._is_unit(unit.kind)
  from (
    select said.code, errand.key as errand, said.n
    from jsonb_each(orders - 'shift') as errand
    cross join lateral jsonb_array_elements_text(errand.value) with ordinality as said (code, n)
    union all
    select shift.key, 'shift', 0 from jsonb_each_text(coalesce(orders -> 'shift', '{}')) as shift
  ) as named
  left join public.unit on unit.position_id = _sailors.position_id and unit.code = named.code
  order by array_position(array['land', 'run_in', 'approach', 'shift'], named.errand), named.n, named.code
$$;

comment on function css._sailors(bigint, jsonb) is
'Those who are to move on the Amphibious chit, by errand.';

create or replace function css._zone_crowd(position_id bigint, beach text, run text, without text[])
returns integer
language sql stable
return (
  select count(*)::integer
  from public.unit
  where unit.position_id = _zone_crowd.position_id
    and unit.attributes #>> '{zone,beach}' = beach
    and unit.attributes #>> '{zone,run}' = run
    and css._is_unit(unit.kind)
    and unit.code <> all(without)
);

comment on function css._zone_crowd(bigint, text, text, text[]) is
'Units in a naval zone, some not counted (22.1).';

create or replace function css._landing_steps(
  state positions.state, shore text, sailors css.sailor[], orders jsonb
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  spot public.hex;
  held boolean;
  gone text[] := array(select sailor.code from unnest(sailors) as sailor);
  head record;
begin
  select * into spot from public.hex where hex.map_id = state.map_id and hex.label = shore;
  held := css._held_by(state.position_id, 'japan', spot.q, spot.r);
  return query
  select (css._entry(bar.rule, null, 'forbids', bar.note, bar.code, null, bar.point, shore)).*
  from (
    select
      '22.1' as rule,
      format(
        '%s is not in the %s Zone off this beach', sailor.code,
        case sailor.errand when 'run_in' then 'Approach Run' when 'approach' then 'Transport' else 'Final Run-In' end
      ) as note,
      sailor.code,
      null as point
    from unnest(sailors) as sailor
    where sailor.beach is distinct from shore
      or sailor.run is distinct from case sailor.errand
        when 'run_in' then 'approach' when 'approach' then 'transport' else 'final_run_in'
      end
    union all
    select '22.1', 'the enemy holds the beach', sailor.code, null
    from unnest(sailors) as sailor where sailor.errand = 'land' and held
    union all
    select '22.1', 'the beach is open: nobody shifts to another', sailor.code, null
    from unnest(sailors) as sailor where sailor.errand = 'shift' and not held
    union all
    select
      case when there.beachhead is distinct from here.beachhead then '22.1' else '22.0' end,
      case
        when there.label is null then format('there is no beach %s', orders -> 'shift' ->> sailor.code)
        when there.label = shore then 'it shifts to another beach'
        else 'it shifts within its own Beachhead'
      end,
      sailor.code,
      null
    from unnest(sailors) as sailor
    cross join lateral css._beach(state.map_id, shore) as here
    left join lateral css._beach(state.map_id, orders -> 'shift' ->> sailor.code) as there on true
    where sailor.errand = 'shift'
      and (there.label is null or there.label = shore or there.beachhead is distinct from here.beachhead)
    union all
    select '22.0', 'no Support Weapon is in a naval zone', unit.code, null
    from unnest(sailors) as sailor
    inner join public.unit
      on unit.position_id = state.position_id and unit.code = sailor.code and unit.kind = 'support_weapon'
    union all
    select '17.0', 'nobody moves by sea at night', null, 'css-28'
    where css._is_night(state.conditions) and state.readings ->> 'css-28' = 'b'
    union all
    select '22.0', 'naval zones move on the Amphibious chit alone', null, null
    where coalesce(state.conditions ->> 'activation' <> 'amphibious', css._chit(state.conditions) in ('division', 'formation'))
    union all
    select '4.0', 'the day of a tropical storm is skipped', null, null
    where state.conditions ->> 'weather' = 'tropical_storm'
    union all
    -- 22.1: never more than three, but in the Transport Zone
    select
      '22.1', format('more than three Units in the %s', case zone.run when 'approach' then 'Approach Run Zone' else 'Final Run-In Zone' end),
      null, null
    from (values ('final_run_in', 'run_in'), ('approach', 'approach')) as zone (run, errand)
    where css._zone_crowd(state.position_id, shore, zone.run, gone)
      + (select count(*) from unnest(sailors) as sailor where sailor.errand = zone.errand and sailor.counts) > 3
      and exists (select from unnest(sailors) as sailor where sailor.errand = zone.errand)
  ) as bar;
  -- 22.1: the oldest first
  select waiting.code, (waiting.attributes ->> 'order')::integer as place into head
  from public.unit as waiting
  where waiting.position_id = state.position_id
    and waiting.attributes #>> '{zone,beach}' = shore
    and waiting.attributes #>> '{zone,run}' = 'transport'
    and css._is_unit(waiting.kind)
    and waiting.code <> all(gone)
  order by coalesce((waiting.attributes ->> 'order')::integer, 0)
  limit 1;
  return query
  select (css._entry(
    '22.1', null, 'forbids', format('%s came before %s', head.code, sailor.code), sailor.code, null, null, shore
  )).*
  from unnest(sailors) as sailor
  where sailor.errand = 'approach' and head.code is not null and coalesce(head.place, 0) < sailor.place;
end
$$;

comment on function css._landing_steps(positions.state, text, css.sailor[], jsonb) is
'What forbids movement from zone to zone: where they are, who holds the beach, how many, who came first (22.0, 22.1).';

create or replace function css._naval_fire_steps(state positions.state, shore text, run text)
returns table (code text, label text, alert integer)
language sql stable rows 3
as $$
  select gunner.by, gunner.label, gunner.alert
  from (
    select distinct
      zone.by,
      here.label,
      exists (
        select from public.marker
        where marker.position_id = state.position_id and marker.kind = 'no_opportunity_fire'
          and (marker.q, marker.r) = (unit.q, unit.r)
      ) as spent,
      (
        select max((weapon.attributes ->> 'alert')::integer)
        from public.unit as weapon
        where weapon.position_id = state.position_id and weapon.side = 'japan'
          and (weapon.q, weapon.r) = (unit.q, unit.r)
      ) as alert
    from css.side_zone(state.position_id, 'japan', state.conditions, state.readings) as zone
    inner join public.unit on unit.position_id = state.position_id and unit.code = zone.by
    inner join public.hex as here on here.map_id = unit.map_id and here.q = unit.q and here.r = unit.r
    inner join public.hex as beach on beach.map_id = state.map_id and beach.label = shore
    where zone.arm = run and (zone.q, zone.r) = (beach.q, beach.r)
  ) as gunner
  where not gunner.spent
  order by gunner.by
$$;

comment on function css._naval_fire_steps(positions.state, text, text) is
'Japanese Units that may fire at a naval zone off a beach, or with `unit` at the beach hex itself (22.1, 22.3).';

create or replace function css.landing(
  position_id bigint, beach text, orders jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shore record;
  sailors css.sailor[];
  bars rulings.ledger_step[];
  screened boolean;
  facts jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into shore from css._beach(state.map_id, beach);
  if shore.label is null then
    raise exception 'there is no beach or hex % on this map', beach using errcode = 'no_data_found';
  end if;
  sailors := array(select sailor from css._sailors(position_id, orders) as sailor);
  bars := array(select step from css._landing_steps(state, shore.label, sailors, orders) as step);
  -- css-63: whether those ashore screen who lands
  screened := exists (
    select
    from public.unit
    where unit.position_id = position_id and (unit.q, unit.r) = (shore.q, shore.r) and unit.side = 'us'
      and css._is_unit(unit.kind) and unit.attributes ->> 'posture' = 'deployed'
  );
  facts := jsonb_build_object(
    'at', shore.label,
    'beach_dg', css._dg_at(position_id, shore.q, shore.r, false),
    'landers_dg', (select coalesce(max(sailor.dg), 0) from unnest(sailors) as sailor where sailor.errand = 'land'),
    'pinned', (select coalesce(bool_or(sailor.pinned), false) from unnest(sailors) as sailor where sailor.errand = 'land'),
    'suppressed', (
      select coalesce(bool_or(sailor.suppressed), false) from unnest(sailors) as sailor where sailor.errand = 'land'
    ),
    'line', (
      select jsonb_object_agg(there.label, coalesce((
        select max((waiting.attributes ->> 'order')::integer)
        from public.unit as waiting
        where waiting.position_id = position_id
          and waiting.attributes #>> '{zone,beach}' = there.label and waiting.attributes #>> '{zone,run}' = 'transport'
      ), 0))
      from jsonb_each_text(coalesce(orders -> 'shift', '{}')) as shift
      cross join lateral css._beach(state.map_id, shift.value) as there
    ),
    'shift', (
      select coalesce(jsonb_object_agg(shift.key, there.label), '{}')
      from jsonb_each_text(coalesce(orders -> 'shift', '{}')) as shift
      cross join lateral css._beach(state.map_id, shift.value) as there
    ),
    'at_beach', case when screened and state.readings ->> 'css-63' = 'b' then '[]' else (
      select coalesce(jsonb_agg(gunner.code), '[]') from css._naval_fire_steps(state, shore.label, 'unit') as gunner
    ) end,
    'at_zone', (
      select coalesce(jsonb_agg(gunner.code), '[]')
      from css._naval_fire_steps(
        state, shore.label, case state.readings ->> 'css-75' when 'a' then 'approach' else 'final_run_in' end
      ) as gunner
    ),
    'fired_run', case state.readings ->> 'css-75' when 'a' then 'approach' else 'final_run_in' end
  );
  if exists (select from unnest(sailors) as sailor where sailor.errand = 'land') and screened then
    bars := bars || array(
      select css._entry(
        '22.3.2', null, case state.readings ->> 'css-63' when 'b' then 'screened' else 'passes' end,
        'a Deployed Unit is on the beach already', null, null, 'css-63', shore.label
      )
    );
  end if;
  if exists (select from unnest(sailors) as sailor where sailor.errand = 'run_in') then
    bars := bars || css._entry(
      '22.1', null, 'fire', format('those who run in are fired at in the %s Zone', replace(facts ->> 'fired_run', '_', ' ')),
      null, null, 'css-75', shore.label
    );
  end if;
  if css._is_night(state.conditions) and state.readings ->> 'css-28' = 'a' then
    bars := bars || css._entry('17.0', null, 'passes', 'the chit is drawn at night too', null, null, 'css-28', shore.label);
  end if;
  return query select * from unnest(bars);
  return query
  select (css._sum(
    coalesce(bar.rule, '22.1'), case when bar.rule is not null then 'refused' else 'moves' end,
    coalesce(bar.note, 'beach, Final Run-In and Approach, in this order'), facts, shore.label
  )).*
  from (select) as once
  left join lateral (
    select step.rule, step.note from unnest(bars) as step where step.effect = 'forbids' limit 1
  ) as bar on true;
end
$$;

comment on function css.landing(bigint, text, jsonb, jsonb, jsonb) is
'Movement off one beach on the Amphibious chit: who may land, run in, approach and shift, and who may fire at them (22.1).';
