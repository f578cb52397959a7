-- needs: css/passage.sql, css/zones.sql
-- Artillery that shifts by night in css (Guam): 27.0, printed under 26.0.

create or replace function css._creep_bars(position_id bigint, unit text, now jsonb, policy jsonb)
returns table (rule text, effect text, note text)
language sql stable rows 1
as $$
  select
    held.rule,
    'forbids',
    held.note
  from positions.counter(_creep_bars.position_id, _creep_bars.unit) as counter
  cross join lateral css._holds(
    _creep_bars.position_id, counter.q, counter.r, coalesce((counter.attributes ->> 'in_cave')::boolean, false)
  ) as held
  union all
  select '4.0', 'forbids', 'the day of a tropical storm is skipped'
  where now ->> 'weather' = 'tropical_storm'
  union all
  select
    bar.rule,
    bar.effect,
    bar.note
  from positions.counter(_creep_bars.position_id, _creep_bars.unit) as counter
  cross join lateral (
    values
    (
      '27.0',
      counter.side <> 'japan' or counter.kind <> 'artillery',
      'forbids',
      'only japanese artillery shifts by night'
    ),
    (
      '27.0',
      counter.attributes #>> '{fire,type}' is distinct from 'indirect',
      case when counter.attributes ? 'fire' then 'forbids' else 'unknown' end,
      format('whether %s fires indirectly', _creep_bars.unit)
    ),
    (
      '27.0',
      (counter.attributes ->> 'movement')::numeric is distinct from 0,
      case when counter.attributes ? 'movement' then 'forbids' else 'unknown' end,
      case
        when counter.attributes ? 'movement' then 'it can move, and does so as others do'
        else format('the movement allowance of %s', _creep_bars.unit)
      end
    ),
    (
      '27.0',
      now ->> 'time' is distinct from 'night' or (now ->> 'night')::integer = 1,
      'forbids',
      'in the second night turn only'
    ),
    ('27.0', now ->> 'time' = 'night' and not now ? 'night', 'unknown', 'which night turn it is'),
    (
      '27.0',
      exists (
        select
        from css.side_zone(_creep_bars.position_id, 'us', now, policy) as zone
        where (zone.q, zone.r) = (counter.q, counter.r)
      ),
      'forbids',
      'it stands in an American fire zone'
    ),
    (
      '6.3',
      coalesce((counter.attributes ->> 'in_cave')::boolean, false),
      'forbids',
      'only a column comes out of a cave'
    )
  ) as bar (rule, holds, effect, note)
  where bar.holds
$$;

comment on function css._creep_bars(bigint, text, jsonb, jsonb) is
'What keeps a gun from shifting by night (27.0).';

create or replace function css._creep(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
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
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  mover record;
  verdict text := 'legal';
  why text := 'artillery shifts by night, without going into column';
  here text;
  there text;
  disorder integer;
  changed jsonb := '{}';
  held text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  at := mover.label;
  for rule, effect, note in select * from css._creep_bars(position_id, unit, mover.now, policy) loop
    verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := note;
    return next;
  end loop;
  there := mover.label;
  disorder := css._dg_at(position_id, mover.q, mover.r, false);
  for n in 2..cardinality(qs) loop
    exit when verdict <> 'legal';
    here := there;
    select hex.label into there
    from public.hex
    where hex.map_id = mover.map_id and hex.q = qs[n] and hex.r = rs[n];
    at := there;
    for rule, effect, note, point in
      select '27.0', 'forbids', 'two hexes and no more', null::text
      where n > 3
      union all
      select '27.0', 'forbids', held, null
      where held is not null
      union all
      select * from css._step_bars(
        position_id, mover.side, 'leg', mover.units, mover.codes, false,
        qs[n - 1], rs[n - 1], qs[n], rs[n], n = 2
      )
      union all
      select part.rule, part.effect, part.note, part.point
      from css._best_way(
        position_id, qs[n - 1], rs[n - 1], qs[n], rs[n], 'leg', false, false,
        mover.readings, false, false, 0, mover.side
      ) as part
      where part.effect <> 'cost'
      union all
      select '27.0', 'forbids', 'in an American fire zone', null::text
      from css.side_zone(position_id, 'us', mover.now, policy) as zone
      where (zone.q, zone.r) = (qs[n], rs[n])
      limit 1
    loop
      verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
      why := note;
      return next;
    end loop;
    exit when verdict <> 'legal';
    for rule, at, effect, note, point, halves, disorder, changed, held in
      select * from css._step_changes(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[n - 1], rs[n - 1], qs[n], rs[n],
        here, there, false, disorder, changed
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    halves := null;
  end loop;
  point := null;
  if verdict = 'legal' then
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[cardinality(qs)], rs[cardinality(rs)], there, false,
        disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then note else why end;
      return next;
    end loop;
  end if;
  at := there;
  rule := '27.0';
  effect := verdict;
  note := why;
  point := null;
  halves := 0;
  return next;
end
$$;

comment on function css._creep(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'Japanese artillery that shifts two hexes in the second night turn (27.0, printed under 26.0).';
