-- needs: css/mover.sql
-- A step from place to place in css (Guam), whatever kind of move takes it: 6.0, 6.1.1, 6.1.2, 6.3, 8.6, 8.7, 8.8.1,
-- 9.0, 10.2, 12.1, 13.1, 14.0, 16.0, 23.0, 28.1, 29.1.
--
-- `css._step_bars` is before a step, `css._passage` is what happens with it, `css._arrival_steps` what is so at the
-- end. How a mover stands is passed on from leg to leg.

drop type if exists css.standing cascade;
create type css.standing as (
  verdict text,
  why text,
  purse integer,
  spent integer,
  sure boolean,
  held text,
  disorder integer,
  changed jsonb
);

comment on type css.standing is
'How a mover stands on its way.';
comment on column css.standing.verdict is 'legal so far, illegal or unknown; why: in words, null where all is well';
comment on column css.standing.purse is 'Halves of a point that it has left; spent: that it has paid';
comment on column css.standing.sure is 'Whether nothing untold bears on what it has left';
comment on column css.standing.held is 'What lets it not leave the place that it is in';
comment on column css.standing.disorder is 'Its Disorganization';
comment on column css.standing.changed is 'DG of places that the way has changed, by their names';

drop type if exists css.passage cascade;
create type css.passage as (
  steps rulings.move_step array,
  standing css.standing
);

comment on type css.passage is
'What is told of a leg, and how the mover stands after it.';

create or replace function css._held_by(position_id bigint, side text, q integer, r integer)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from public.unit
    where unit.position_id = _held_by.position_id
      and unit.q = _held_by.q
      and unit.r = _held_by.r
      and unit.side = _held_by.side
      and css._is_unit(unit.kind)
      -- 6.3: those inside a cave do not hold the hex above it
      and not coalesce((unit.attributes ->> 'in_cave')::boolean, false)
  );
end
$$;

comment on function css._held_by(bigint, text, integer, integer) is
'Whether Units of a side stand in a hex, outside of its cave.';

create or replace function css._friends(mover css.mover, q integer, r integer, inside boolean)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select count(*)::integer
    from public.unit
    where unit.position_id = mover.position_id
      and unit.q = _friends.q
      and unit.r = _friends.r
      and unit.side = mover.side
      and css._is_unit(unit.kind)
      and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = _friends.inside
      and unit.code <> all(mover.codes)
  );
end
$$;

comment on function css._friends(css.mover, integer, integer, boolean) is
'How many Units of its side are in a place, those that move not counted.';

create or replace function css._rivals(mover css.mover)
returns table (q integer, r integer, inside boolean, effect text)
language sql stable parallel safe rows 4
as $$
  select
    unit.q,
    unit.r,
    coalesce((unit.attributes ->> 'in_cave')::boolean, false),
    -- the Navy stacks with none but the Navy, so that a service that is not told leaves it open
    case
      when bool_or((unit.attributes ->> 'service' = 'navy') <> (mover.service = 'navy')) then 'forbids'
      else 'unknown'
    end
  from public.unit
  where unit.position_id = mover.position_id
    and unit.q is not null
    and unit.side = 'japan'
    and mover.side = 'japan'
    and css._is_unit(unit.kind)
    and unit.code <> all(mover.codes)
    and coalesce(unit.attributes ->> 'service', '') <> coalesce(mover.service, '')
    and 'navy' in (unit.attributes ->> 'service', mover.service)
  group by 1, 2, 3
$$;

comment on function css._rivals(css.mover) is
'Where Japanese Navy and Army would stack, or might, as a counter does not tell its service (6.1.2).';

create or replace function css._place(label text, inside boolean)
returns text
language sql immutable parallel safe
return case when inside then label || ' cave' else label end;

comment on function css._place(text, boolean) is
'How a ruling names a hex, or the inside of its cave.';

create or replace function css._step_bars(mover css.mover, leg css.leg)
returns setof rulings.step
language sql stable rows 1
as $$
  select
    bar.rule,
    null,
    leg.next_label,
    'forbids',
    bar.note,
    null
  from public.hex
  cross join lateral (
    select
      (leg.q, leg.r) = (leg.next_q, leg.next_r) as mouth,
      'cave' = any(hex.features) as cave
  ) as going
  cross join lateral (
    select
      going.cave
      and (going.mouth or leg.inside)
      and css._friends(mover, leg.next_q, leg.next_r, true) + mover.units > 2 as full
  ) as room
  cross join lateral (
    values
    ('6.0', lattice.distance(leg.q, leg.r, leg.next_q, leg.next_r) > 1, 'the hexes are not adjacent'),
    ('6.3', going.mouth and not going.cave, 'there is no cave'),
    ('6.3', going.mouth and going.cave and mover.side <> 'japan', 'only the japanese go into caves'),
    ('6.3', going.mouth and going.cave and mover.mobility <> 'leg', 'no vehicle goes into a cave'),
    ('6.3', going.mouth and not leg.inside and going.cave and room.full, 'two units fill a cave'),
    ('6.3', leg.inside and not going.mouth and not going.cave, 'it has to come out of the cave first'),
    (
      '6.3',
      leg.inside and not going.mouth and going.cave and leg.n > 1,
      'from cave to cave takes the whole action'
    ),
    ('6.3', leg.inside and not going.mouth and going.cave and room.full, 'two units fill a cave'),
    (
      '9.0',
      leg.inside = going.mouth and css._held_by(mover.position_id, mover.enemy, leg.next_q, leg.next_r),
      'a hex that the enemy holds is entered by assault only'
    ),
    (
      '8.8.1',
      not going.mouth and exists (
        select
        from public.marker
        where marker.position_id = mover.position_id
          and marker.q = leg.next_q
          and marker.r = leg.next_r
          and css._marker_does(marker.kind) = 'shuts'
      ),
      'the hex is on fire'
    )
  ) as bar (rule, holds, note)
  where hex.map_id = mover.map_id
    and hex.q = leg.next_q
    and hex.r = leg.next_r
    and bar.holds
$$;

comment on function css._step_bars(css.mover, css.leg) is
'What shuts a hex or a cave to those that would enter it, whatever it costs.';

create or replace function css._known_dg(position_id bigint, changed jsonb, q integer, r integer, label text, inside boolean)
returns integer
language sql stable parallel safe
return coalesce((changed ->> css._place(label, inside))::integer, css._dg_at(position_id, q, r, inside));

comment on function css._known_dg(bigint, jsonb, integer, integer, text, boolean) is
'The Disorganization of a place as a way has left it.';

create or replace function css._left_behind_steps(mover css.mover, leg css.leg, known integer, before integer, hit integer)
returns setof rulings.move_step
language sql stable rows 2
as $$
  with friends as materialized (
    select
      css._friends(mover, leg.q, leg.r, leg.inside) as stay,
      least(before + hit, 4) as disorder
  )
  select
    '8.6', null, leg.label, 'hits', format('%s DG from opportunity fire', hit), 'css-58', null::integer, null::integer,
    null
  where hit > 0
  union all
  select
    '10.2.3', null, leg.label, 'eliminates', format('%s over DG4: as many units are lost', before + hit - 4), null, null,
    null, null
  where before + hit > 4
  union all
  -- 6.1.1: who stays keeps the marker, and who goes takes its value along
  select
    '6.1.1',
    null,
    css._place(leg.label, leg.inside),
    'places dg',
    format('those who stay are at DG%s', friends.disorder),
    null,
    2 * friends.disorder,
    null,
    null
  from friends
  where friends.stay > 0 and known <> friends.disorder
  union all
  select
    '6.1.1', null, css._place(leg.label, leg.inside), 'removes dg', 'the marker goes along with the unit', null, 0, null,
    null
  from friends
  where friends.stay = 0 and known > 0
  union all
  select
    '28.1',
    null,
    leg.label,
    'roll',
    'mines, on leaving: half the die, less what demolition teams cleared, in DG',
    null,
    null,
    null,
    null
  from public.marker
  where marker.position_id = mover.position_id
    and marker.q = leg.q
    and marker.r = leg.r
    and marker.kind = 'mines'
    and mover.side = 'us'
    and leg.inside = leg.next_inside
$$;

comment on function css._left_behind_steps(css.mover, css.leg, integer, integer, integer) is
'What happens to the hex that a unit leaves: fire on it, the DG of those who stay, mines (6.1.1, 8.6, 28.1).';

create or replace function css._joined_steps(mover css.mover, leg css.leg, known integer, disorder integer)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select
    '10.2.3', null, css._place(leg.next_label, leg.next_inside), 'dg', format('it comes to DG%s', known), 'css-58',
    null::integer, null::integer, null
  where known > disorder
  union all
  select
    '6.1.1', null, css._place(leg.next_label, leg.next_inside), 'places dg', format('it brings DG%s along', disorder),
    null, 2 * disorder, null, null
  where known < disorder
    and css._friends(mover, leg.next_q, leg.next_r, leg.next_inside) > 0
$$;

comment on function css._joined_steps(css.mover, css.leg, integer, integer) is
'What the DG of a place and of the unit that enters it do to one another (6.1.1, 10.2.3).';

create or replace function css._entered_steps(mover css.mover, leg css.leg, way text)
returns setof rulings.step
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
    null,
    leg.next_label,
    case
      -- 23.0 says any unit, and speaks of American dogs and of leaders whom the Japanese pick
      when marker.kind = 'booby_trap' and mover.side = 'japan' and mover.readings ->> 'css-77' = 'a' then 'passes'
      when marker.kind = 'booby_trap' then 'roll'
      when marker.kind = 'pinned' and mover.readings ->> 'css-6' = 'b' then 'passes'
      else case css._marker_does(marker.kind) when 'halves' then 'half' when 'holds' then 'stops' else 'unknown' end
    end,
    case
      when marker.kind = 'booby_trap' and mover.side = 'japan' and mover.readings ->> 'css-77' = 'a'
        then 'a booby trap is there for Americans'
      when marker.kind = 'booby_trap' then 'a booby trap goes off'
      when css._marker_does(marker.kind) = 'halves' then 'a medium barrage halves what is left'
      when css._marker_does(marker.kind) = 'untold' then css._untold_marker(marker.kind)
      when marker.kind = 'bombardment' then 'nobody leaves a bombardment'
      when marker.kind = 'pinned' and mover.readings ->> 'css-6' = 'b' then 'only those who were hit are pinned'
      else format('it is %s on entry', marker.kind)
    end,
    case
      when marker.kind = 'pinned' then 'css-6'
      when marker.kind = 'booby_trap' and mover.side = 'japan' then 'css-77'
    end
  from public.marker
  where marker.position_id = mover.position_id
    and marker.q = leg.next_q
    and marker.r = leg.next_r
    and (marker.kind = 'booby_trap' or css._marker_does(marker.kind) in ('halves', 'holds', 'untold'))
    and (marker.kind not in ('drunk', 'hungover') or mover.side = 'us')
    -- 6.3: through the mouth of its cave it does not enter the hex
    and (marker.kind in ('pinned', 'suppressed') or leg.inside = leg.next_inside)
    and (
      marker.kind not in ('pinned', 'suppressed', 'booby_trap')
      or coalesce((marker.attributes ->> 'in_cave')::boolean, false) = leg.next_inside
    )
  union all
  select '16.0', null, leg.next_label, 'roll', 'on a road it may be struck from the air', null
  where mover.side = 'japan'
    and way in ('paved_road', 'unpaved_road')
    and (mover.conditions ->> 'interdiction')::integer > 0
$$;

comment on function css._entered_steps(css.mover, css.leg, text) is
'What the markers of a hex, and the air over a road, do to a unit that enters it.';

create or replace function css._left_alone_steps(mover css.mover)
returns setof rulings.move_step
language sql stable rows 1
as $$
  with company as materialized (
    select
      unit.code,
      unit.kind,
      row_number() over (partition by unit.kind order by unit.code) as nth,
      count(*) filter (where css._is_unit(unit.kind)) over () as units
    from public.unit
    where unit.position_id = mover.position_id
      and unit.q = mover.q
      and unit.r = mover.r
      and unit.side = mover.side
      and unit.code <> all(mover.codes)
      and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = mover.inside
  )
  select
    case company.kind when 'leader' then '13.1' when 'hero' then '14.0' else '12.1' end,
    null,
    mover.label,
    'leaves alone',
    case
      when company.kind = 'hero' then 'a hero left alone goes to another unit of his formation'
      when company.kind = 'leader' and mover.side = 'us' then 'a leader left alone goes to a unit of his command'
      when company.kind = 'leader' then 'a japanese leader left alone is lost'
      when company.units > 0 then 'more support weapons than units stay: one of them, as its owner chooses, goes'
      else 'a support weapon left alone goes to the Reallocating box'
    end,
    null,
    null::integer,
    null::integer,
    company.code
  from company
  where case company.kind
    when 'support_weapon' then company.nth > company.units
    when 'leader' then company.units = 0
    when 'hero' then company.units = 0
    else false
  end
$$;

comment on function css._left_alone_steps(css.mover) is
'Support weapons, leaders and heroes whom those that go leave without a unit (12.1, 13.1, 14.0).';

create or replace function css._passage(mover css.mover, leg css.leg, before css.standing, way text)
returns css.passage
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  gains constant boolean := mover.readings ->> 'css-58' = 'a';
  hit constant integer := coalesce((mover.options -> 'hits' ->> leg.label)::integer, 0);
  standing css.standing := before;
  steps rulings.move_step[] := '{}';
  step rulings.move_step;
  known integer;
begin
  -- what it leaves
  standing.disorder := least(before.disorder + hit, 4);
  if gains then
    standing.purse := css._dg_left(standing.purse, before.disorder, standing.disorder);
  end if;
  known := css._known_dg(mover.position_id, standing.changed, leg.q, leg.r, leg.label, leg.inside);
  for step in select * from css._left_behind_steps(mover, leg, known, before.disorder, hit) loop
    step.remaining := case when step.effect = 'hits' then standing.purse end;
    if step.halves is not null then
      standing.changed := standing.changed || jsonb_build_object(step.at, step.halves / 2);
    end if;
    steps := steps || step;
  end loop;

  -- what it comes into
  known := css._known_dg(
    mover.position_id, standing.changed, leg.next_q, leg.next_r, leg.next_label, leg.next_inside
  );
  if gains then
    standing.purse := css._dg_left(standing.purse, standing.disorder, known);
  end if;
  for step in select * from css._joined_steps(mover, leg, known, standing.disorder) loop
    step.remaining := case when step.effect = 'dg' then standing.purse end;
    if step.halves is not null then
      standing.changed := standing.changed || jsonb_build_object(step.at, step.halves / 2);
    end if;
    steps := steps || step;
  end loop;
  standing.disorder := greatest(standing.disorder, known);
  standing.held := null;
  for step in
    select entered.*, null::integer, null::integer, null::text
    from css._entered_steps(mover, leg, way) as entered
  loop
    if step.effect = 'half' then
      standing.purse := css._halved(standing.purse);
      step.remaining := standing.purse;
    elsif step.effect = 'unknown' then
      standing.sure := false;
    elsif step.effect = 'stops' then
      standing.held := step.note;
    end if;
    steps := steps || step;
  end loop;
  return row(steps, standing)::css.passage;
end
$$;

comment on function css._passage(css.mover, css.leg, css.standing, text) is
'What happens with a step that is paid for: in the place that is left, and in the one that is entered.';

create or replace function css._free_passage(mover css.mover, leg css.leg, before css.standing)
returns css.passage
language plpgsql stable
as $$
declare
  passage css.passage := css._passage(mover, leg, before, null);
begin
  passage.steps := array(
    select row(
      step.rule, null, step.at, step.effect, step.note, case when step.effect = 'stops' then step.point end, step.halves,
      null, null
    )::rulings.move_step
    from unnest(passage.steps) with ordinality as step
    where step.effect not in ('half', 'unknown', 'passes')
    order by step.ordinality
  );
  return passage;
end
$$;

comment on function css._free_passage(css.mover, css.leg, css.standing) is
'What happens with a step that costs no points: css._passage without what lowers points.';

create or replace function css._arrival_steps(mover css.mover, leg css.leg, standing css.standing)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select
    '6.1.2', null, css._place(leg.next_label, leg.next_inside), rival.effect, 'navy and army do not stack', null,
    null::integer, null::integer, null
  from css._rivals(mover) as rival
  where (rival.q, rival.r, rival.inside) = (leg.next_q, leg.next_r, leg.next_inside)
  union all
  select
    '6.1.1',
    null,
    css._place(leg.next_label, leg.next_inside),
    'places dg',
    format('it is at DG%s where it ends', standing.disorder),
    null,
    2 * standing.disorder,
    null,
    null
  where standing.disorder > 0
    and css._friends(mover, leg.next_q, leg.next_r, leg.next_inside) = 0
    and standing.disorder <> css._known_dg(
      mover.position_id, standing.changed, leg.next_q, leg.next_r, leg.next_label, leg.next_inside
    )
$$;

comment on function css._arrival_steps(css.mover, css.leg, css.standing) is
'What is so where a way ends: services that do not stack, and DG that was brought along (6.1.1, 6.1.2).';
