-- needs: css/mover.sql
-- A step from place to place in css (Guam), whatever kind of move takes it: 6.0, 6.1.1, 6.1.2, 6.3, 8.6, 8.7, 8.8.1,
-- 9.0, 10.2, 12.1, 13.1, 14.0, 16.0, 23.0, 28.1, 29.1.
--
-- `css._step_bars` is before a step, `css._passage` is what happens with it, `css._arrival` what is so at the end.
-- A way is a list of hexes. A hex named twice in a row is a step through the mouth of its cave, in or out;
-- from inside a cave, another hex is the cave there (6.3).

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

create or replace function css._step_changes(
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
  inside boolean,
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
  disorder integer,
  changed jsonb,
  held text
)
language sql stable rows 3
as $$
  select
    change.rule,
    change.at,
    change.effect,
    change.note,
    case when change.effect = 'stops' then change.point end,
    change.halves,
    change.disorder,
    change.changed,
    change.held
  from css._passage(
    _step_changes.position_id, _step_changes.side, codes, now, readings, aq, ar, bq, br, here, there, inside, null, 0,
    0, was, dgs
  ) as change
  where change.effect is null or change.effect not in ('half', 'unknown', 'passes')
$$;

comment on function css._step_changes(
  bigint, text, text[], jsonb, jsonb, integer, integer, integer, integer, text, text, boolean, integer, jsonb
) is
'What happens with a step that costs no points: css._passage without what lowers points; the last row is no effect.';

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
