-- needs: css/costs.sql, positions/command.sql
-- Who moves in css (Guam), and what he may spend: 3.2, 6.0, 6.3, 8.7, 8.7.7, 10.2, 12.3, 13.1, 14.0, 15.0, 24.2.

create or replace function css._dg_at(position_id bigint, q integer, r integer, inside boolean)
returns integer
language sql stable parallel safe
as $$
  select coalesce(max(marker.value), 0)
  from public.marker
  where marker.position_id = _dg_at.position_id
    and marker.q = _dg_at.q
    and marker.r = _dg_at.r
    and marker.kind = 'dg'
    and coalesce((marker.attributes ->> 'in_cave')::boolean, false) = _dg_at.inside
$$;

comment on function css._dg_at(bigint, integer, integer, boolean) is
'The Disorganization of a hex, outside or inside its cave, which are two places (6.3).';

create or replace function css._mover(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  kind text,
  side text,
  service text,
  q integer,
  r integer,
  label text,
  inside boolean,
  zone jsonb,
  -- all who go, and how many of them are Units
  codes text[],
  units integer,
  weapons integer,
  mobility text,
  -- halves printed, or told with the question
  movement integer,
  -- a Support Weapon that is kept from steep slopes and ridges; a Tank one goes along
  heavy boolean,
  tank boolean,
  manner text,
  off_road boolean,
  -- halves that interdiction adds to a hex
  tax integer,
  now jsonb,
  readings jsonb
)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  who record;
  pack record;
  pace record;
  state record;
begin
  select * into who from positions.counter(_mover.position_id, _mover.unit);
  if not found then
    raise exception 'no unit % in this position', _mover.unit using errcode = 'no_data_found';
  end if;
  select
    position.map_id,
    coalesce(_mover.conditions, position.conditions) as now,
    positions.readings(position.id, _mover.policy) as readings
  into state
  from public.position
  where position.id = _mover.position_id;
  select
    array_agg(counter.code) as codes,
    count(*) filter (where css._is_unit(counter.kind))::integer as units,
    count(*) filter (where counter.kind = 'support_weapon')::integer as weapons,
    coalesce(bool_or(counter.kind = 'support_weapon' and counter.attributes ->> 'target' = 'tank'), false) as tank,
    coalesce(
      bool_or(counter.kind = 'support_weapon' and counter.attributes ->> 'target' is distinct from 'tank'), false
    ) as weapon,
    bool_or(counter.kind = 'truck') as truck,
    bool_or(counter.side <> who.side) as enemies,
    max(counter.attributes ->> 'service') filter (where css._is_unit(counter.kind)) as service
  into pack
  from public.unit as counter
  where counter.position_id = _mover.position_id
    and (counter.code = _mover.unit or _mover.options -> 'with' ? counter.code);
  if pack.enemies then
    raise exception 'an enemy does not move along with %', _mover.unit using errcode = 'no_data_found';
  end if;
  -- 15.0: a truck sets the pace of what it carries; else the slowest does
  select
    array_agg(distinct counter.attributes ->> 'mobility') filter (where counter.attributes ? 'mobility') as mobilities,
    bool_and(counter.attributes ? 'mobility') as told,
    case
      when bool_and(counter.attributes ? 'movement')
        then min((counter.attributes ->> 'movement')::numeric) * 2
    end as movement
  into pace
  from public.unit as counter
  where counter.position_id = _mover.position_id
    and counter.code = any(pack.codes)
    and case when pack.truck then counter.kind = 'truck' else css._is_unit(counter.kind) end;
  if cardinality(pace.mobilities) > 1 then
    raise exception 'units that move in different ways pay different costs: ask for each of them alone'
      using errcode = 'no_data_found';
  end if;
  return query
  select
    state.map_id,
    who.kind,
    who.side,
    pack.service,
    who.q,
    who.r,
    who.label,
    coalesce((who.attributes ->> 'in_cave')::boolean, false),
    who.attributes -> 'zone',
    pack.codes,
    pack.units,
    pack.weapons,
    case when pace.told then pace.mobilities[1] end,
    coalesce((_mover.options ->> 'points')::numeric * 2, pace.movement)::integer,
    -- css-41 b: with a Tank Support Weapon a unit goes wherever it could without
    pack.weapon or (pack.tank and state.readings ->> 'css-41' = 'a'),
    pack.tank,
    case
      when (_mover.options ->> 'night_shift')::boolean then 'night_shift' else coalesce(_mover.options ->> 'as', 'move')
    end,
    coalesce((_mover.options ->> 'off_road')::boolean, false),
    case
      when who.side = 'japan' or state.readings ->> 'css-57' = 'b'
        then 2 * coalesce((state.now ->> 'interdiction')::integer, 0)
      else 0
    end,
    state.now,
    state.readings;
end
$$;

comment on function css._mover(bigint, text, jsonb, jsonb, jsonb) is
'Who moves: the unit, those that go along, how they move, and what holds now.';

create or replace function css._holds(position_id bigint, q integer, r integer, inside boolean)
returns table (rule text, note text)
language sql stable rows 1
as $$
  select
    case marker.kind when 'pinned' then '10.2.2' when 'suppressed' then '10.2.1' else '8.7.7' end,
    case marker.kind
      when 'bombardment' then 'nobody leaves a bombardment' else format('%s units do not move', marker.kind)
    end
  from public.marker
  where marker.position_id = _holds.position_id
    and marker.q = _holds.q
    and marker.r = _holds.r
    and css._marker_does(marker.kind) = 'holds'
    -- 6.3: what lies outside of a cave holds nobody inside, and the other way round
    and (
      marker.kind = 'bombardment'
      or coalesce((marker.attributes ->> 'in_cave')::boolean, false) = _holds.inside
    )
$$;

comment on function css._holds(bigint, integer, integer, boolean) is
'The markers that let nobody leave a place (8.7.7, 10.2.1, 10.2.2).';

create or replace function css._unfit(position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb)
returns setof rulings.step
language sql stable rows 4
as $$
  with mover as materialized (
    select * from css._mover(_unfit.position_id, _unfit.unit, _unfit.options, _unfit.conditions, _unfit.policy)
  ),
  party as materialized (
    select
      counter.code,
      counter.kind,
      counter.attributes,
      counter.q,
      counter.r,
      coalesce((counter.attributes ->> 'in_cave')::boolean, false) as inside,
      coalesce(_unfit.options ->> 'posture', counter.attributes ->> 'posture') as posture,
      -- 8.7: an indirect unit that can walk is not carried
      counter.attributes #>> '{fire,type}' = 'indirect' and (counter.attributes ->> 'movement')::numeric > 0 as walks,
      mover.label,
      mover.kind = 'truck' or exists (
        select from public.unit as truck
        where truck.position_id = _unfit.position_id and truck.code = any(mover.codes) and truck.kind = 'truck'
      ) as by_truck
    from mover
    inner join public.unit as counter
      on counter.position_id = _unfit.position_id and counter.code = any(mover.codes)
  )
  select
    said.rule,
    said.clause,
    mover.label,
    said.effect,
    said.note,
    said.point
  from mover
  cross join lateral (
    select '4.0', 'A', 'forbids', 'the day of a tropical storm is skipped', null, 1
    where mover.now ->> 'weather' = 'tropical_storm'
    union all
    select '6.0', null, 'forbids', format('%s starts elsewhere', party.code), null, 2
    from party
    where (party.q, party.r, party.inside) is distinct from (mover.q, mover.r, mover.inside)
    union all
    select
      case mover.kind when 'leader' then '13.1' when 'hero' then '14.0' else '12.3' end,
      null,
      'forbids',
      format('a %s moves with a unit, not alone', replace(mover.kind, '_', ' ')),
      null,
      3
    where mover.units = 0 and mover.kind in ('leader', 'hero', 'support_weapon')
    union all
    select '24.2', null, 'forbids', 'an ambush unit is always deployed', null, 4
    where exists (select from party where party.kind = 'ambush')
    union all
    select '6.0', null, 'turns', format('%s changes to %s first', party.code, party.posture), null, 4
    from party
    where css._is_unit(party.kind)
      and party.kind <> 'ambush'
      and party.posture <> party.attributes ->> 'posture'
    union all
    select
      case when party.by_truck then '15.0' else '6.0' end,
      null,
      case when party.posture is null then 'assumed' else 'forbids' end,
      case
        when party.posture is null then format('%s is taken to be in column', party.code)
        when party.by_truck then format('%s is deployed; only a column is carried', party.code)
        else format('%s is deployed; only a column moves', party.code)
      end,
      null,
      5
    from party
    where css._is_unit(party.kind) and party.kind <> 'ambush' and party.posture is distinct from 'column'
    union all
    select held.rule, null, 'forbids', held.note, null, 6
    from css._holds(_unfit.position_id, mover.q, mover.r, mover.inside) as held
    union all
    select '12.3', null, 'forbids', 'more support weapons than units', null, 7
    where mover.weapons > mover.units and mover.units > 0
    union all
    select load.rule, null, 'forbids', load.note, null, 8
    from (
      select
        bool_or(party.by_truck) as by_truck,
        coalesce(bool_or(party.walks), false) as walks
      from party
    ) as truck
    cross join lateral (
      values
      ('15.0', mover.side <> 'us', 'only the americans have trucks'),
      ('15.0', mover.units = 0, 'a truck without a unit is not on the map'),
      ('15.0', mover.units > 1, 'a truck carries one unit'),
      ('15.0', mover.weapons > 1, 'a truck carries one support weapon'),
      ('8.7', truck.walks, 'an indirect unit that can walk is not carried')
    ) as load (rule, over, note)
    where truck.by_truck and load.over
    union all
    select '3.2', null, 'unknown', untold.note, null, 9
    from party
    cross join lateral (
      values
      (not party.attributes ? 'mobility', format('how %s moves: leg, wheeled or tracked', party.code)),
      (
        mover.movement is null and not party.attributes ? 'movement',
        format('the movement allowance of %s', party.code)
      )
    ) as untold (so, note)
    where untold.so
      and case when party.by_truck then party.kind = 'truck' else css._is_unit(party.kind) end
    union all
    select '3.2', null, 'forbids', format('%s has no movement; it waits for a truck', _unfit.unit), null, 10
    where mover.movement = 0 and mover.manner = 'move'
  ) as said (rule, clause, effect, note, point, n)
  order by said.n
$$;

comment on function css._unfit(bigint, text, jsonb, jsonb, jsonb) is
'What keeps a unit from moving before it takes a step, what is untold and what is taken for granted.';

create or replace function css._setting_out(
  position_id bigint, unit text, trail boolean, options jsonb, conditions jsonb, policy jsonb
)
returns table (
  rule text, clause text, at text, effect text, note text, point text, halves integer, remaining integer
)
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mover record;
  marker record;
  disorder integer;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  for rule, clause, at, effect, note, point in
    select * from css._unfit(position_id, unit, options, conditions, policy)
  loop
    return next;
  end loop;
  if mover.movement is null or mover.mobility is null then
    return;
  end if;
  rule := '3.2';
  clause := null;
  at := mover.label;
  effect := 'allowance';
  point := null;
  halves := mover.movement;
  remaining := mover.movement;
  note := format('%s moves %s', mover.mobility, trim_scale(halves / 2.0));
  return next;
  if trail then
    rule := '6.2.1';
    effect := '+2';
    halves := 4;
    remaining := remaining + halves;
    note := 'on a trail from beginning to end';
    return next;
  end if;
  halves := null;
  if mover.side = 'us' and mover.tax = 0 and (mover.now ->> 'interdiction')::integer > 0 then
    rule := '16.0';
    effect := 'passes';
    note := 'interdiction burdens the japanese';
    point := 'css-57';
    return next;
    point := null;
  end if;
  disorder := css._dg_at(position_id, mover.q, mover.r, mover.inside);
  if disorder > 0 then
    rule := '10.2.3';
    effect := case when disorder >= 3 then 'half' else '-1' end;
    remaining := css._dg_left(remaining, 0, disorder);
    note := format('DG%s leaves %s', disorder, trim_scale(remaining / 2.0));
    return next;
  end if;
  for marker in
    select counter.kind
    from public.marker as counter
    where counter.position_id = _setting_out.position_id and counter.q = mover.q and counter.r = mover.r
  loop
    if css._marker_does(marker.kind) = 'halves' then
      rule := '8.7.2';
      effect := 'half';
      remaining := css._halved(remaining);
      note := format('a %s leaves %s', replace(marker.kind, '_', ' '), trim_scale(remaining / 2.0));
      return next;
    elsif css._marker_does(marker.kind) = 'untold' and (mover.side = 'us' or marker.kind like '%barrage') then
      rule := case when marker.kind like '%barrage' then '8.7.2' else '29.1' end;
      effect := 'unknown';
      note := css._untold_marker(marker.kind);
      return next;
    end if;
  end loop;
end
$$;

comment on function css._setting_out(bigint, text, boolean, jsonb, jsonb, jsonb) is
'What a unit may spend: its allowance and what lowers it where it stands, and what forbids it to move at all.';
