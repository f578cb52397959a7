-- needs: css/costs.sql, css/triggers.sql, positions/command.sql
-- A way gone step by step in css (Guam): 3.2, 6.0, 6.1.1, 6.1.2, 6.3, 8.7.7, 8.8.1, 10.2, 12.1, 12.3, 13.1, 14.0,
-- 15.0, 24.2, 28.1.
--
-- `css._mover` knows who goes, `css._setting_out` what he may spend, `css._walk` goes the way: `css._step_bars`
-- and `css._toll` are before a step, `css._passage` is what happens with it, `css._arrival` what is so at the end.
-- A way is a list of hexes. A hex named twice in a row is a step through the mouth of its cave, in or out;
-- from inside a cave, another hex is the cave there (6.3).

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

create or replace function css._held_by(position_id bigint, side text, q integer, r integer)
returns boolean
language sql stable parallel safe
as $$
  select exists (
    select
    from public.unit
    where unit.position_id = _held_by.position_id
      and unit.q = _held_by.q
      and unit.r = _held_by.r
      and unit.side = _held_by.side
      and css._is_unit(unit.kind)
      -- 6.3: those inside a cave do not hold the hex above it
      and not coalesce((unit.attributes ->> 'in_cave')::boolean, false)
  )
$$;

comment on function css._held_by(bigint, text, integer, integer) is
'Whether Units of a side stand in a hex, outside of its cave.';

create or replace function css._friends(position_id bigint, side text, q integer, r integer, inside boolean, but text[])
returns integer
language sql stable parallel safe
as $$
  select count(*)::integer
  from public.unit
  where unit.position_id = _friends.position_id
    and unit.q = _friends.q
    and unit.r = _friends.r
    and unit.side = _friends.side
    and css._is_unit(unit.kind)
    and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = _friends.inside
    and unit.code <> all(_friends.but)
$$;

comment on function css._friends(bigint, text, integer, integer, boolean, text[]) is
'How many Units of a side are in a place, those that move not counted.';

create or replace function css._rivals(position_id bigint, side text, service text, but text[])
returns table (q integer, r integer, inside boolean, effect text)
language sql stable parallel safe rows 4
as $$
  select
    unit.q,
    unit.r,
    coalesce((unit.attributes ->> 'in_cave')::boolean, false),
    -- the Navy stacks with none but the Navy, so that a service that is not told leaves it open
    case
      when bool_or((unit.attributes ->> 'service' = 'navy') <> (_rivals.service = 'navy')) then 'forbids'
      else 'unknown'
    end
  from public.unit
  where unit.position_id = _rivals.position_id
    and unit.q is not null
    and unit.side = 'japan'
    and _rivals.side = 'japan'
    and css._is_unit(unit.kind)
    and unit.code <> all(_rivals.but)
    and coalesce(unit.attributes ->> 'service', '') <> coalesce(_rivals.service, '')
    and 'navy' in (unit.attributes ->> 'service', _rivals.service)
  group by 1, 2, 3
$$;

comment on function css._rivals(bigint, text, text, text[]) is
'Where Japanese Navy and Army would stack, or might, as a counter does not tell its service (6.1.2).';

create or replace function css._place(label text, inside boolean)
returns text
language sql immutable parallel safe
return case when inside then label || ' cave' else label end;

comment on function css._place(text, boolean) is
'How a ruling names a hex, or the inside of its cave.';

create or replace function css._step_bars(
  position_id bigint,
  side text,
  mobility text,
  units integer,
  codes text[],
  inside boolean,
  aq integer,
  ar integer,
  bq integer,
  br integer,
  first boolean
)
returns table (rule text, effect text, note text, point text)
language sql stable rows 1
as $$
  select
    bar.rule,
    'forbids',
    bar.note,
    null
  from public.position
  inner join public.hex on hex.map_id = position.map_id and hex.q = bq and hex.r = br
  cross join lateral (
    select
      (aq, ar) = (bq, br) as mouth,
      'cave' = any(hex.features) as cave,
      css._friends(_step_bars.position_id, _step_bars.side, bq, br, true, codes) + units > 2 as full
  ) as going
  cross join lateral (
    values
    ('6.0', lattice.distance(aq, ar, bq, br) > 1, 'the hexes are not adjacent'),
    ('6.3', going.mouth and not going.cave, 'there is no cave'),
    ('6.3', going.mouth and going.cave and _step_bars.side <> 'japan', 'only the japanese go into caves'),
    ('6.3', going.mouth and going.cave and mobility <> 'leg', 'no vehicle goes into a cave'),
    ('6.3', going.mouth and not inside and going.cave and going.full, 'two units fill a cave'),
    ('6.3', inside and not going.mouth and not going.cave, 'it has to come out of the cave first'),
    ('6.3', inside and not going.mouth and going.cave and not first, 'from cave to cave takes the whole action'),
    ('6.3', inside and not going.mouth and going.cave and going.full, 'two units fill a cave'),
    (
      '9.0',
      css._held_by(_step_bars.position_id, case _step_bars.side when 'us' then 'japan' else 'us' end, bq, br)
      and inside = going.mouth,
      'a hex that the enemy holds is entered by assault only'
    ),
    (
      '8.8.1',
      not going.mouth and exists (
        select
        from public.marker
        where marker.position_id = _step_bars.position_id
          and marker.q = bq
          and marker.r = br
          and css._marker_does(marker.kind) = 'shuts'
      ),
      'the hex is on fire'
    )
  ) as bar (rule, holds, note)
  where position.id = _step_bars.position_id
    and bar.holds
$$;

comment on function css._step_bars(
  bigint, text, text, integer, text[], boolean, integer, integer, integer, integer, boolean
) is
'What shuts a hex or a cave to those that would enter it, whatever it costs.';

create or replace function css._toll(
  position_id bigint,
  side text,
  mobility text,
  heavy boolean,
  tank boolean,
  readings jsonb,
  trail boolean,
  off_road boolean,
  tax integer,
  inside boolean,
  purse integer,
  aq integer,
  ar integer,
  bq integer,
  br integer,
  label text
)
returns table (way text, rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 3
as $$
  with part as materialized (
    select
      'cave' as way,
      '6.3' as rule,
      _toll.label as at,
      'cost' as effect,
      case when inside then 'out of the cave' else 'into the cave' end as note,
      null as point,
      2 as halves
    where (aq, ar) = (bq, br)
    union all
    select 'cave', '6.3', _toll.label, 'cost', 'from cave to cave, with all it has', null, purse
    where inside and (aq, ar) <> (bq, br)
    union all
    select way.*
    from css._best_way(
      _toll.position_id, aq, ar, bq, br, mobility, heavy, tank, readings, trail, off_road, tax, _toll.side
    ) as way
    where not inside and (aq, ar) <> (bq, br)
  )
  select part.*
  from part
  union all
  select
    null,
    '6.0',
    _toll.label,
    'forbids',
    case
      when purse = 0 then 'no movement points are left'
      else format(
        'not enough movement points: %s needed, %s left', trim_scale(sum(part.halves) / 2.0), trim_scale(purse / 2.0)
      )
    end,
    null,
    null
  from part
  having bool_and(part.effect = 'cost') and (sum(part.halves) > purse or purse = 0)
$$;

comment on function css._toll(
  bigint, text, text, boolean, boolean, jsonb, boolean, boolean, integer, boolean, integer, integer, integer,
  integer, integer, text
) is
'What a step costs, part by part: from hex to hex, through the mouth of a cave, or from cave to cave (6.3); and
whether that is more than there is.';

create or replace function css._left_behind(
  position_id bigint,
  side text,
  codes text[],
  q integer,
  r integer,
  label text,
  inside boolean,
  mouth boolean,
  -- DG of the place, of the unit before and after it was hit
  known integer,
  before integer,
  hit integer,
  disorder integer
)
returns table (rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 2
as $$
  with friends as materialized (
    select css._friends(_left_behind.position_id, _left_behind.side, q, r, inside, codes) as stay
  )
  select '8.6', label, 'hits', format('%s DG from opportunity fire', hit), 'css-58', null::integer
  where hit > 0
  union all
  select
    '10.2.3', label, 'eliminates', format('%s over DG4: as many units are lost', before + hit - 4), null, null
  where before + hit > 4
  union all
  -- 6.1.1: who stays keeps the marker, and who goes takes its value along
  select
    '6.1.1',
    css._place(label, inside),
    'places dg',
    format('those who stay are at DG%s', disorder),
    null,
    2 * disorder
  from friends
  where friends.stay > 0 and known <> disorder
  union all
  select '6.1.1', css._place(label, inside), 'removes dg', 'the marker goes along with the unit', null, 0
  from friends
  where friends.stay = 0 and known > 0
  union all
  select
    '28.1',
    label,
    'roll',
    'mines, on leaving: half the die, less what demolition teams cleared, in DG',
    null,
    null
  from public.marker
  where marker.position_id = _left_behind.position_id
    and marker.q = _left_behind.q
    and marker.r = _left_behind.r
    and marker.kind = 'mines'
    and _left_behind.side = 'us'
    and not mouth
$$;

comment on function css._left_behind(
  bigint, text, text[], integer, integer, text, boolean, boolean, integer, integer, integer, integer
) is
'What happens to the hex that a unit leaves: fire on it, the DG of those who stay, mines (6.1.1, 8.6, 28.1).';

create or replace function css._joined(
  position_id bigint,
  side text,
  codes text[],
  q integer,
  r integer,
  place text,
  inside boolean,
  known integer,
  disorder integer
)
returns table (rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 1
as $$
  select '10.2.3', place, 'dg', format('it comes to DG%s', known), 'css-58', null::integer
  where known > disorder
  union all
  select '6.1.1', place, 'places dg', format('it brings DG%s along', disorder), null, 2 * disorder
  where known < disorder
    and css._friends(_joined.position_id, _joined.side, _joined.q, _joined.r, _joined.inside, codes) > 0
$$;

comment on function css._joined(
  bigint, text, text[], integer, integer, text, boolean, integer, integer
) is
'What the DG of a place and of the unit that enters it do to one another (6.1.1, 10.2.3).';

create or replace function css._entered(
  position_id bigint,
  side text,
  q integer,
  r integer,
  inside boolean,
  -- through the mouth of its cave, and not from another hex
  mouth boolean,
  way text,
  now jsonb,
  readings jsonb
)
returns table (rule text, effect text, note text, point text)
language sql stable rows 1
as $$
  select
    case
      when marker.kind = 'pinned' then '10.2.2'
      when marker.kind = 'suppressed' then '10.2.1'
      when marker.kind = 'bombardment' then '8.7.7'
      when marker.kind = 'booby_trap' then '23.0'
      when marker.kind in ('drunk', 'hungover') then '29.1'
      else '8.7.2'
    end,
    case
      -- 23.0 says any unit, and speaks of American dogs and of leaders whom the Japanese pick
      when marker.kind = 'booby_trap' and _entered.side = 'japan' and readings ->> 'css-77' = 'a' then 'passes'
      when marker.kind = 'booby_trap' then 'roll'
      when marker.kind = 'pinned' and readings ->> 'css-6' = 'b' then 'passes'
      else case css._marker_does(marker.kind) when 'halves' then 'half' when 'holds' then 'stops' else 'unknown' end
    end,
    case
      when marker.kind = 'booby_trap' and _entered.side = 'japan' and readings ->> 'css-77' = 'a'
        then 'a booby trap is there for Americans'
      when marker.kind = 'booby_trap' then 'a booby trap goes off'
      when css._marker_does(marker.kind) = 'halves' then 'a medium barrage halves what is left'
      when css._marker_does(marker.kind) = 'untold' then css._untold_marker(marker.kind)
      when marker.kind = 'bombardment' then 'nobody leaves a bombardment'
      when marker.kind = 'pinned' and readings ->> 'css-6' = 'b' then 'only those who were hit are pinned'
      else format('it is %s on entry', marker.kind)
    end,
    case
      when marker.kind = 'pinned' then 'css-6'
      when marker.kind = 'booby_trap' and _entered.side = 'japan' then 'css-77'
    end
  from public.marker
  where marker.position_id = _entered.position_id
    and marker.q = _entered.q
    and marker.r = _entered.r
    and (marker.kind = 'booby_trap' or css._marker_does(marker.kind) in ('halves', 'holds', 'untold'))
    and (marker.kind not in ('drunk', 'hungover') or _entered.side = 'us')
    and (marker.kind in ('pinned', 'suppressed') or not _entered.mouth)
    and (
      marker.kind not in ('pinned', 'suppressed', 'booby_trap')
      or coalesce((marker.attributes ->> 'in_cave')::boolean, false) = _entered.inside
    )
  union all
  select '16.0', 'roll', 'on a road it may be struck from the air', null
  where _entered.side = 'japan'
    and _entered.way in ('paved_road', 'unpaved_road')
    and (now ->> 'interdiction')::integer > 0
$$;

comment on function css._entered(bigint, text, integer, integer, boolean, boolean, text, jsonb, jsonb) is
'What the markers of a hex, and the air over a road, do to a unit that enters it.';

create or replace function css._left_alone(
  position_id bigint, side text, codes text[], q integer, r integer, label text, inside boolean
)
returns table (rule text, at text, effect text, note text, by text)
language sql stable rows 1
as $$
  with company as materialized (
    select
      unit.code,
      unit.kind,
      row_number() over (partition by unit.kind order by unit.code) as nth,
      count(*) filter (where css._is_unit(unit.kind)) over () as units
    from public.unit
    where unit.position_id = _left_alone.position_id
      and unit.q = _left_alone.q
      and unit.r = _left_alone.r
      and unit.side = _left_alone.side
      and unit.code <> all(_left_alone.codes)
      and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = _left_alone.inside
  )
  select
    case company.kind when 'leader' then '13.1' when 'hero' then '14.0' else '12.1' end,
    _left_alone.label,
    'leaves alone',
    case
      when company.kind = 'hero' then 'a hero left alone goes to another unit of his formation'
      when company.kind = 'leader' and _left_alone.side = 'us' then 'a leader left alone goes to a unit of his command'
      when company.kind = 'leader' then 'a japanese leader left alone is lost'
      when company.units > 0 then 'more support weapons than units stay: one of them, as its owner chooses, goes'
      else 'a support weapon left alone goes to the Reallocating box'
    end,
    company.code
  from company
  where case company.kind
    when 'support_weapon' then company.nth > company.units
    when 'leader' then company.units = 0
    when 'hero' then company.units = 0
    else false
  end
$$;

comment on function css._left_alone(bigint, text, text[], integer, integer, text, boolean) is
'Support weapons, leaders and heroes whom those that go leave without a unit (12.1, 13.1, 14.0).';

create or replace function css._passage(
  position_id bigint,
  side text,
  codes text[],
  now jsonb,
  readings jsonb,
  aq integer,
  ar integer,
  bq integer,
  br integer,
  here text,
  there text,
  from_cave boolean,
  way text,
  hit integer,
  -- what it had left, how disorganized it was, and the DG of places that the way had changed, by their names
  had integer,
  was integer,
  dgs jsonb
)
returns table (
  rule text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  remaining integer,
  -- how it stands after that; the last row has nothing but this
  purse integer,
  disorder integer,
  changed jsonb,
  sure boolean,
  held text
)
language plpgsql stable rows 3
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mouth constant boolean := (aq, ar) = (bq, br);
  inside constant boolean := from_cave <> mouth;
  gains constant boolean := readings ->> 'css-58' = 'a';
  known integer;
begin
  purse := had;
  changed := dgs;
  sure := true;
  -- what it leaves
  disorder := least(was + hit, 4);
  if gains then
    purse := css._dg_left(purse, was, disorder);
  end if;
  known := coalesce((changed ->> css._place(here, from_cave))::integer, css._dg_at(position_id, aq, ar, from_cave));
  for rule, at, effect, note, point, halves in
    select * from css._left_behind(
      position_id, side, codes, aq, ar, here, from_cave, mouth, known, was, hit, disorder
    )
  loop
    remaining := case when effect = 'hits' then purse end;
    changed := changed || case when halves is not null then jsonb_build_object(at, halves / 2) else '{}' end;
    return next;
  end loop;

  -- what it comes into
  known := coalesce((changed ->> css._place(there, inside))::integer, css._dg_at(position_id, bq, br, inside));
  if gains then
    purse := css._dg_left(purse, disorder, known);
  end if;
  for rule, at, effect, note, point, halves in
    select * from css._joined(position_id, side, codes, bq, br, css._place(there, inside), inside, known, disorder)
  loop
    remaining := case when effect = 'dg' then purse end;
    changed := changed || case when halves is not null then jsonb_build_object(at, halves / 2) else '{}' end;
    return next;
  end loop;
  disorder := greatest(disorder, known);
  halves := null;
  at := there;
  for rule, effect, note, point in
    select * from css._entered(position_id, side, bq, br, inside, mouth, way, now, readings)
  loop
    purse := case when effect = 'half' then css._halved(purse) else purse end;
    remaining := case when effect = 'half' then purse end;
    sure := sure and effect <> 'unknown';
    held := case when effect = 'stops' then note else held end;
    return next;
  end loop;
  effect := null;
  return next;
end
$$;

comment on function css._passage(
  bigint, text, text[], jsonb, jsonb, integer, integer, integer, integer, text, text, boolean, text, integer, integer,
  integer, jsonb
) is
'What happens with a step that is paid for: in the place that is left, and in the one that is entered.';

create or replace function css._arrival(
  position_id bigint,
  side text,
  service text,
  codes text[],
  q integer,
  r integer,
  place text,
  inside boolean,
  disorder integer,
  changed jsonb
)
returns table (rule text, at text, effect text, note text, halves integer)
language sql stable rows 1
as $$
  select '6.1.2', _arrival.place, rival.effect, 'navy and army do not stack', null::integer
  from css._rivals(_arrival.position_id, _arrival.side, _arrival.service, _arrival.codes) as rival
  where (rival.q, rival.r, rival.inside) = (_arrival.q, _arrival.r, _arrival.inside)
  union all
  select
    '6.1.1',
    _arrival.place,
    'places dg',
    format('it is at DG%s where it ends', _arrival.disorder),
    2 * _arrival.disorder
  where _arrival.disorder > 0
    and css._friends(
      _arrival.position_id, _arrival.side, _arrival.q, _arrival.r, _arrival.inside, _arrival.codes
    ) = 0
    and _arrival.disorder <> coalesce(
      (_arrival.changed ->> _arrival.place)::integer,
      css._dg_at(_arrival.position_id, _arrival.q, _arrival.r, _arrival.inside)
    )
$$;

comment on function css._arrival(
  bigint, text, text, text[], integer, integer, text, boolean, integer, jsonb
) is
'What is so where a way ends: services that do not stack, and DG that was brought along (6.1.1, 6.1.2).';

create or replace function css._walk(
  position_id bigint,
  unit text,
  qs integer[],
  rs integer[],
  trail boolean,
  options jsonb,
  conditions jsonb,
  policy jsonb
)
returns table (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  remaining integer,
  by text
)
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mover record;
  triggers jsonb;
  verdict text := 'legal';
  why text;
  spent integer := 0;
  purse integer;
  sure boolean := true;
  held text;
  inside boolean;
  disorder integer;
  -- DG of places that the way has changed, by label
  changed jsonb := '{}';
  certain boolean;
  cost integer;
  chosen text;
  here text;
  there text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  for rule, clause, at, effect, note, point, halves, remaining in
    select * from css._setting_out(position_id, unit, trail, options, conditions, policy)
  loop
    purse := coalesce(remaining, purse);
    sure := sure and effect <> 'unknown';
    if effect = 'forbids' and verdict <> 'illegal' then
      verdict := 'illegal';
      why := note;
    end if;
    return next;
  end loop;
  if verdict = 'legal' and (mover.movement is null or mover.mobility is null) then
    verdict := 'unknown';
    why := 'what it may spend is not known';
  end if;
  here := mover.label;
  select hex.label into there
  from public.hex
  where hex.map_id = mover.map_id and hex.q = qs[2] and hex.r = rs[2];
  inside := mover.inside;
  disorder := css._dg_at(position_id, mover.q, mover.r, inside);
  select jsonb_agg(to_jsonb(shot)) into triggers
  from css._triggers(position_id, unit, qs, rs, options, conditions, policy) as shot;

  for n in 1..cardinality(qs) - 1 loop
    exit when verdict <> 'legal';
    select hex.label into there
    from public.hex
    where hex.map_id = mover.map_id and hex.q = qs[n + 1] and hex.r = rs[n + 1];
    clause := null;
    at := there;
    "by" := null;
    remaining := null;
    halves := null;
    cost := 0;

    -- what keeps it from the step
    for rule, effect, note, point in
      select * from css._step_bars(
        position_id, mover.side, mover.mobility, mover.units, mover.codes, inside,
        qs[n], rs[n], qs[n + 1], rs[n + 1], n = 1
      )
    loop
      verdict := 'illegal';
      why := coalesce(why, note);
      return next;
    end loop;
    if held is not null and verdict = 'legal' then
      verdict := 'illegal';
      why := held;
    end if;
    exit when verdict <> 'legal';

    -- what it costs
    for chosen, rule, at, effect, note, point, halves in
      select * from css._toll(
        position_id, mover.side, mover.mobility, mover.heavy, mover.tank, mover.readings, trail, mover.off_road,
        mover.tax, inside, purse, qs[n], rs[n], qs[n + 1], rs[n + 1], there
      )
    loop
      cost := cost + coalesce(halves, 0);
      if effect = 'forbids' and verdict <> 'illegal' then
        verdict := 'illegal';
        why := note;
      elsif effect = 'unknown' and verdict = 'legal' then
        verdict := 'unknown';
        why := format('not known: %s', note);
      end if;
      return next;
    end loop;
    if verdict = 'legal' and not sure then
      verdict := 'unknown';
      why := 'what it may spend is not known';
    end if;
    exit when verdict <> 'legal';
    halves := null;
    purse := purse - cost;
    spent := spent + cost;

    -- 6.0: fire falls on it in the hex it leaves, when the points are spent
    for rule, clause, at, effect, note, point, "by" in
      select shot.rule, shot.clause, shot.at, shot.effect, shot.note, shot.point, shot.by
      from jsonb_to_recordset(coalesce(triggers, '[]')) as shot (
        n integer, rule text, clause text, at text, effect text, note text, point text, by text
      )
      where shot.n = n
    loop
      return next;
    end loop;
    clause := null;
    point := null;
    for rule, at, effect, note, "by" in
      select *
      from css._left_alone(position_id, mover.side, mover.codes, mover.q, mover.r, here, inside)
      -- in the hex it comes from, once it is out of it
      where n = 1 and here <> there
    loop
      return next;
    end loop;
    "by" := null;
    for rule, at, effect, note, point, halves, remaining, purse, disorder, changed, certain, held in
      select * from css._passage(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[n], rs[n], qs[n + 1], rs[n + 1],
        here, there, inside, chosen, coalesce((options -> 'hits' ->> here)::integer, 0), purse, disorder, changed
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    sure := sure and certain;
    inside := inside <> (here = there);
    here := there;
  end loop;

  point := null;
  remaining := null;
  if verdict = 'legal' then
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[cardinality(qs)], rs[cardinality(rs)],
        css._place(here, inside), inside, disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then coalesce(why, note) end;
      return next;
      exit when verdict <> 'legal';
    end loop;
  end if;
  rule := '6.0';
  at := coalesce(there, here);
  effect := verdict;
  note := coalesce(why, case when trail then 'on the trail all the way' else 'the points suffice' end);
  halves := spent;
  remaining := case when sure then purse end;
  return next;
end
$$;

comment on function css._walk(
  bigint, text, integer[], integer[], boolean, jsonb, jsonb, jsonb
) is
'A way gone hex by hex, with what every step costs, draws and changes; the verdict last.';
