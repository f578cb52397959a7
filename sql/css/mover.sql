-- needs: css/fire_zone.sql, positions/state.sql, rulings/step.sql
-- Who moves in css (Guam), by which way, and what it may spend: 3.2, 6.0, 6.3, 8.5.4, 8.7, 8.7.2, 8.7.7, 10.2, 12.3,
-- 13.1, 14.0, 15.0, 16.0, 24.2, 29.1.
--
-- A mover is made once, by `css._mover`, and passed on whole. A way is a list of hexes, taken as legs from place to
-- place: a hex named twice in a row is a leg through the mouth of its cave, in or out; from inside a cave, another
-- hex is the cave there (6.3).

drop type if exists css.mover cascade;
create type css.mover as (
  position_id bigint,
  map_id bigint,
  unit text,
  kind text,
  side text,
  enemy text,
  service text,
  q integer,
  r integer,
  label text,
  inside boolean,
  zone jsonb,
  lands boolean,
  codes text array,
  units integer,
  weapons integer,
  by_truck boolean,
  mobility text,
  movement integer,
  heavy boolean,
  tank boolean,
  manner text,
  off_road boolean,
  tax integer,
  options jsonb,
  conditions jsonb,
  readings jsonb,
  policy jsonb
);

comment on type css.mover is
'Those who move together, how they move, and what holds now.';
comment on column css.mover.inside is 'Whether it starts inside a cave (6.3)';
comment on column css.mover.zone is 'The naval zone that it is in (22.0); null on the map';
comment on column css.mover.lands is 'Whether it is in the Final Run-In Zone, off the map (22.1)';
comment on column css.mover.codes is 'All who go';
comment on column css.mover.units is 'How many of them are Units; weapons: Support Weapons';
comment on column css.mover.mobility is 'leg, wheeled or tracked; null is not told';
comment on column css.mover.movement is 'Halves printed, or told with the question; null is not told';
comment on column css.mover.heavy is 'Whether a Support Weapon keeps it from steep slopes and ridges (6.2.2)';
comment on column css.mover.tank is 'Whether a Tank Support Weapon goes along';
comment on column css.mover.manner is 'move, advance or night_shift';
comment on column css.mover.tax is 'Halves that interdiction adds to a hex (16.0)';
comment on column css.mover.conditions is 'The conditions in force; policy: as it was asked, readings: what that comes to';

drop type if exists css.leg cascade;
create type css.leg as (
  n integer,
  q integer,
  r integer,
  label text,
  inside boolean,
  next_q integer,
  next_r integer,
  next_label text,
  next_inside boolean
);

comment on type css.leg is
'A step of a way: the place left and the place entered, each a hex or the inside of its cave (6.3).';
comment on column css.leg.n is 'From 1';
comment on column css.leg.next_q is 'Null where it lands: the beach is the place left, since it is fired at there (22.3.2)';

drop type if exists css.companion cascade;
create type css.companion as (
  code text,
  kind text,
  attributes jsonb,
  q integer,
  r integer,
  inside boolean,
  posture text
);

comment on type css.companion is
'One of those who move together; its posture is the one that it takes before it moves.';

create or replace function css._legs(mover css.mover, qs integer[], rs integer[])
returns setof css.leg
language plpgsql stable rows 10
as $$
declare
  leg css.leg;
  labels text[] := array(
    select hex.label
    from unnest(qs, rs) with ordinality as way (q, r, n)
    left join public.hex on hex.map_id = mover.map_id and hex.q = way.q and hex.r = way.r
    order by way.n
  );
begin
  leg.next_inside := mover.inside;
  for n in 1..coalesce(cardinality(qs), 0) - case when mover.lands then 0 else 1 end loop
    leg.n := n;
    leg.q := qs[n];
    leg.r := rs[n];
    leg.label := labels[n];
    leg.next_q := qs[n + 1];
    leg.next_r := rs[n + 1];
    leg.next_label := labels[n + 1];
    leg.inside := leg.next_inside;
    -- 6.3: the same hex again is through the mouth of its cave; from inside, another hex is the next cave
    leg.next_inside := leg.inside <> coalesce((leg.q, leg.r) = (leg.next_q, leg.next_r), false);
    return next leg;
    exit when mover.lands;
  end loop;
end
$$;

comment on function css._legs(css.mover, integer[], integer[]) is
'The legs of a way; of a landing, the beach hex alone.';

create or replace function css._marker_does(kind text)
returns text
language sql immutable parallel safe
return case
  -- 8.7.2, 10.2.3
  when kind = 'medium_barrage' then 'halves'
  -- what these do to movement stands on the markers alone
  when kind in ('smoke_barrage', 'light_barrage', 'heavy_barrage', 'drunk', 'hungover') then 'untold'
  -- 8.7.7, 10.2.1, 10.2.2
  when kind in ('bombardment', 'pinned', 'suppressed') then 'holds'
  -- 8.8.1
  when kind = 'on_fire' then 'shuts'
end;

comment on function css._marker_does(text) is
'What a marker does to movement: halves it, does something untold, holds a unit in its hex, shuts the hex.';

create or replace function css._untold_marker(kind text)
returns text
language sql immutable parallel safe
return format('what a %s marker does to movement', replace(kind, '_', ' '));

comment on function css._untold_marker(text) is
'How a ruling names what only a marker prints.';

create or replace function css._dg_left(remaining integer, before integer, after integer)
returns integer
language sql immutable parallel safe
return case
  -- 8.5.4: DG3 and DG4 halve, DG1 and DG2 take one point; each effect once
  when after >= 3 and before < 3 then remaining / 4 * 2
  when after >= 1 and before < 1 then greatest(remaining - 2, 0)
  else remaining
end;

comment on function css._dg_left(integer, integer, integer) is
'Halves left when Disorganization grows; halving rounds down to whole points (10.2.3).';

create or replace function css._halved(remaining integer)
returns integer
language sql immutable parallel safe
return remaining / 4 * 2;

comment on function css._halved(integer) is
'Halves left under a Medium Barrage, rounded down to whole points (8.7.2).';

create or replace function css._dg_at(position_id bigint, q integer, r integer, inside boolean)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select coalesce(max(marker.value), 0)
    from public.marker
    where marker.position_id = _dg_at.position_id
      and marker.q = _dg_at.q
      and marker.r = _dg_at.r
      and marker.kind = 'dg'
      and coalesce((marker.attributes ->> 'in_cave')::boolean, false) = _dg_at.inside
  );
end
$$;

comment on function css._dg_at(bigint, integer, integer, boolean) is
'The Disorganization of a hex, outside or inside its cave, which are two places (6.3).';

create or replace function css._together(position_id bigint, unit text, options jsonb)
returns table (
  codes text[],
  units integer,
  weapons integer,
  tank boolean,
  -- a Support Weapon that is no tank
  carried boolean,
  truck boolean,
  both_sides boolean,
  service text
)
language sql stable rows 1
as $$
  select
    array_agg(counter.code),
    count(*) filter (where css._is_unit(counter.kind))::integer,
    count(*) filter (where counter.kind = 'support_weapon')::integer,
    coalesce(bool_or(counter.kind = 'support_weapon' and counter.attributes ->> 'target' = 'tank'), false),
    coalesce(
      bool_or(counter.kind = 'support_weapon' and counter.attributes ->> 'target' is distinct from 'tank'), false
    ),
    bool_or(counter.kind = 'truck'),
    min(counter.side) <> max(counter.side),
    max(counter.attributes ->> 'service') filter (where css._is_unit(counter.kind))
  from public.unit as counter
  where counter.position_id = _together.position_id
    and (
      counter.code = _together.unit
      or _together.options -> 'with' ? counter.code
      -- 15.0: what a truck carries goes where it goes
      or counter.attributes ->> 'loaded_in' = _together.unit
    )
$$;

comment on function css._together(bigint, text, jsonb) is
'A unit and those that go along with it, or that it carries, counted.';

create or replace function css._allowance(attributes jsonb)
returns numeric
language sql immutable parallel safe
-- 3.2, 6.0: what moves is in Column; an allowance of No is none
return case
  when coalesce((attributes ->> 'no_movement')::boolean, false) then 0
  else coalesce(attributes #>> '{column,movement}', attributes ->> 'movement')::numeric
end;

comment on function css._allowance(jsonb) is
'The movement allowance of a counter on its Column side; null is not told (3.2).';

create or replace function css._pace(position_id bigint, codes text[], truck boolean)
returns table (mobilities text[], told boolean, halves numeric)
language sql stable rows 1
as $$
  select
    array_agg(distinct counter.attributes ->> 'mobility') filter (where counter.attributes ? 'mobility'),
    bool_and(counter.attributes ? 'mobility'),
    case
      when bool_and(css._allowance(counter.attributes) is not null) then min(css._allowance(counter.attributes)) * 2
    end
  from public.unit as counter
  where counter.position_id = _pace.position_id
    and counter.code = any(_pace.codes)
    and case when _pace.truck then counter.kind = 'truck' else css._is_unit(counter.kind) end
$$;

comment on function css._pace(bigint, text[], boolean) is
'How those who go together move: a truck sets the pace of what it carries; else the slowest does (15.0).';

create or replace function css._mover(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns css.mover
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  mover css.mover;
  asked positions.counter;
  state positions.state;
  party record;
  pace record;
begin
  select * into asked from positions.counter(_mover.position_id, _mover.unit);
  if not found then
    raise exception 'no unit % in this position', _mover.unit using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(_mover.position_id, _mover.conditions, _mover.policy);
  -- 16.0: the Interdiction box is a track of a game, and a condition of a question
  if not state.conditions ? 'interdiction' then
    state.conditions := state.conditions || coalesce((
      select jsonb_build_object('interdiction', position.tracks -> 'air_box')
      from public.position
      where position.id = _mover.position_id and position.tracks ? 'air_box'
    ), '{}');
  end if;
  select * into party from css._together(_mover.position_id, _mover.unit, _mover.options);
  if party.both_sides then
    raise exception 'an enemy does not move along with %', _mover.unit using errcode = 'no_data_found';
  end if;
  select * into pace from css._pace(_mover.position_id, party.codes, party.truck);
  if cardinality(pace.mobilities) > 1 then
    raise exception 'units that move in different ways pay different costs: ask for each of them alone'
      using errcode = 'no_data_found';
  end if;
  mover.position_id := state.position_id;
  mover.map_id := state.map_id;
  mover.unit := asked.code;
  mover.kind := asked.kind;
  mover.side := asked.side;
  mover.enemy := case asked.side when 'us' then 'japan' else 'us' end;
  mover.service := party.service;
  mover.q := asked.q;
  mover.r := asked.r;
  mover.label := asked.label;
  mover.inside := coalesce((asked.attributes ->> 'in_cave')::boolean, false);
  mover.zone := asked.attributes -> 'zone';
  mover.lands := asked.q is null and coalesce(mover.zone ->> 'run' = 'final_run_in', false);
  mover.codes := party.codes;
  mover.units := party.units;
  mover.weapons := party.weapons;
  mover.by_truck := party.truck;
  mover.mobility := case when pace.told then pace.mobilities[1] end;
  mover.movement := coalesce((_mover.options ->> 'points')::numeric * 2, pace.halves)::integer;
  -- css-41 b: with a Tank Support Weapon a unit goes wherever it could without
  mover.heavy := party.carried or (party.tank and state.readings ->> 'css-41' = 'a');
  mover.tank := party.tank;
  mover.manner := case
    when (_mover.options ->> 'night_shift')::boolean then 'night_shift' else coalesce(_mover.options ->> 'as', 'move')
  end;
  mover.off_road := coalesce((_mover.options ->> 'off_road')::boolean, false);
  mover.tax := case
    when asked.side = 'japan' or state.readings ->> 'css-57' = 'b'
      then 2 * coalesce((state.conditions ->> 'interdiction')::integer, 0)
    else 0
  end;
  mover.options := _mover.options;
  mover.conditions := state.conditions;
  mover.readings := state.readings;
  mover.policy := _mover.policy;
  return mover;
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

create or replace function css._companions(mover css.mover)
returns setof css.companion
language sql stable rows 2
as $$
  select
    counter.code,
    counter.kind,
    counter.attributes,
    counter.q,
    counter.r,
    coalesce((counter.attributes ->> 'in_cave')::boolean, false),
    coalesce(mover.options ->> 'posture', counter.attributes ->> 'posture')
  from public.unit as counter
  where counter.position_id = mover.position_id
    and counter.code = any(mover.codes)
  order by counter.id
$$;

comment on function css._companions(css.mover) is
'Those who move together, the unit that was asked about among them.';

create or replace function css._column_steps(mover css.mover, party css.companion[])
returns setof rulings.step
language sql stable rows 1
as $$
  select '24.2', null, mover.label, 'forbids', 'an ambush unit is always deployed', null
  where exists (select from unnest(party) as companion where companion.kind = 'ambush')
  union all
  select '6.0', null, mover.label, 'turns', format('%s changes to %s first', companion.code, companion.posture), null
  from unnest(party) as companion
  where css._is_unit(companion.kind)
    and companion.kind <> 'ambush'
    and companion.posture <> companion.attributes ->> 'posture'
  union all
  select
    case when mover.by_truck then '15.0' else '6.0' end,
    null,
    mover.label,
    case when companion.posture is null then 'assumed' else 'forbids' end,
    case
      when companion.posture is null then format('%s is taken to be in column', companion.code)
      when mover.by_truck then format('%s is deployed; only a column is carried', companion.code)
      else format('%s is deployed; only a column moves', companion.code)
    end,
    null
  from unnest(party) as companion
  where css._is_unit(companion.kind)
    and companion.kind <> 'ambush'
    and companion.posture is distinct from 'column'
$$;

comment on function css._column_steps(css.mover, css.companion[]) is
'Who is not in column, and so does not move, or changes to it first (6.0, 15.0, 24.2).';

create or replace function css._load_steps(mover css.mover, party css.companion[])
returns setof rulings.step
language sql stable rows 1
as $$
  select '12.3', null, mover.label, 'forbids', 'more support weapons than units', null
  where mover.weapons > mover.units
    and mover.units > 0
  union all
  select load.rule, null, mover.label, 'forbids', load.note, null
  from (
    values
    ('15.0', mover.side <> 'us', 'only the americans have trucks'),
    ('15.0', mover.units = 0, 'a truck without a unit is not on the map'),
    ('15.0', mover.units > 1, 'a truck carries one unit'),
    ('15.0', mover.weapons > 1, 'a truck carries one support weapon'),
    (
      '8.7',
      exists (
        select
        from unnest(party) as companion
        where companion.attributes #>> '{fire,type}' = 'indirect'
          and css._allowance(companion.attributes) > 0
      ),
      'an indirect unit that can walk is not carried'
    )
  ) as load (rule, over, note)
  where mover.by_truck
    and load.over
$$;

comment on function css._load_steps(css.mover, css.companion[]) is
'What is more than units and trucks can carry (8.7, 12.3, 15.0).';

create or replace function css._untold_steps(mover css.mover, party css.companion[])
returns setof rulings.step
language sql stable rows 1
as $$
  select '3.2', null, mover.label, 'unknown', untold.note, null
  from unnest(party) as companion
  cross join lateral (
    values
    (not companion.attributes ? 'mobility', format('how %s moves: leg, wheeled or tracked', companion.code)),
    (
      mover.movement is null and css._allowance(companion.attributes) is null,
      format('the movement allowance of %s', companion.code)
    )
  ) as untold (so, note)
  where untold.so
    and case when mover.by_truck then companion.kind = 'truck' else css._is_unit(companion.kind) end
$$;

comment on function css._untold_steps(css.mover, css.companion[]) is
'What the counters that set the pace do not tell of how they move (3.2).';

create or replace function css._unfit_steps(mover css.mover)
returns setof rulings.step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
declare
  party css.companion[] := array(select companion from css._companions(mover) as companion);
begin
  return query
  select '4.0', 'A', mover.label, 'forbids', 'the day of a tropical storm is skipped', null
  where mover.conditions ->> 'weather' = 'tropical_storm'
  union all
  select '6.0', null, mover.label, 'forbids', format('%s starts elsewhere', companion.code), null
  from unnest(party) as companion
  where (companion.q, companion.r, companion.inside) is distinct from (mover.q, mover.r, mover.inside)
  union all
  select
    case mover.kind when 'leader' then '13.1' when 'hero' then '14.0' else '12.3' end,
    null,
    mover.label,
    'forbids',
    format('a %s moves with a unit, not alone', replace(mover.kind, '_', ' ')),
    null
  where mover.units = 0 and mover.kind in ('leader', 'hero', 'support_weapon')
  union all
  select * from css._column_steps(mover, party)
  union all
  select held.rule, null, mover.label, 'forbids', held.note, null
  from css._holds(mover.position_id, mover.q, mover.r, mover.inside) as held
  union all
  select * from css._load_steps(mover, party)
  union all
  select * from css._untold_steps(mover, party)
  union all
  select '3.2', null, mover.label, 'forbids', format('%s has no movement; it waits for a truck', mover.unit), null
  where mover.movement = 0 and mover.manner = 'move';
end
$$;

comment on function css._unfit_steps(css.mover) is
'What keeps a unit from moving before it takes a step, what is untold and what is taken for granted.';

create or replace function css._allowance_steps(mover css.mover, trail boolean)
returns setof rulings.move_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
declare
  step rulings.move_step;
  disorder integer;
  marker text;
begin
  return query
  select unfit.*, null::integer, null::integer, null::text from css._unfit_steps(mover) as unfit;
  if mover.movement is null or mover.mobility is null then
    return;
  end if;
  step.rule := '3.2';
  step.at := mover.label;
  step.effect := 'allowance';
  step.halves := mover.movement;
  step.remaining := mover.movement;
  step.note := format('%s moves %s', mover.mobility, trim_scale(step.halves / 2.0));
  return next step;
  if trail then
    step.rule := '6.2.1';
    step.effect := '+2';
    step.halves := 4;
    step.remaining := step.remaining + step.halves;
    step.note := 'on a trail from beginning to end';
    return next step;
  end if;
  step.halves := null;
  if mover.side = 'us' and mover.tax = 0 and (mover.conditions ->> 'interdiction')::integer > 0 then
    step.rule := '16.0';
    step.effect := 'passes';
    step.note := 'interdiction burdens the japanese';
    step.point := 'css-57';
    return next step;
    step.point := null;
  end if;
  disorder := css._dg_at(mover.position_id, mover.q, mover.r, mover.inside);
  if disorder > 0 then
    step.rule := '10.2.3';
    step.effect := case when disorder >= 3 then 'half' else '-1' end;
    step.remaining := css._dg_left(step.remaining, 0, disorder);
    step.note := format('DG%s leaves %s', disorder, trim_scale(step.remaining / 2.0));
    return next step;
  end if;
  for marker in
    select counter.kind
    from public.marker as counter
    where counter.position_id = mover.position_id and counter.q = mover.q and counter.r = mover.r
  loop
    if css._marker_does(marker) = 'halves' then
      step.rule := '8.7.2';
      step.effect := 'half';
      step.remaining := css._halved(step.remaining);
      step.note := format('a %s leaves %s', replace(marker, '_', ' '), trim_scale(step.remaining / 2.0));
      return next step;
    elsif css._marker_does(marker) = 'untold' and (mover.side = 'us' or marker like '%barrage') then
      step.rule := case when marker like '%barrage' then '8.7.2' else '29.1' end;
      step.effect := 'unknown';
      step.note := css._untold_marker(marker);
      return next step;
    end if;
  end loop;
end
$$;

comment on function css._allowance_steps(css.mover, boolean) is
'What a unit may spend: its allowance and what lowers it where it stands, and what forbids it to move at all.';
