-- needs: ccp/control.sql, ccp/morale.sql
-- Melee in ccp: who fights in a hex, with how much, and who outlasts a tie: 19.2, 3.1.6, F101, F105.

create or replace function ccp._melee_steps(state positions.state, stats ccp.stat[])
returns setof rulings.ledger_step
language sql stable rows 5
as $$
  select fact.rule, null, stat.label, fact.effect, format('%s: %s', stat.code, fact.note), fact.point, stat.side,
    2 * fact.value, null::jsonb
  from unnest(stats) as stat
  cross join lateral (
    select (stat.attributes ->> 'fp')::integer + stat.led + stat.status - stat.wire::integer as fp
  ) as now
  cross join lateral (
    values
    (1, now.fp is null, '3.1.1', 'unknown', 'its FP', null, null),
    (2, now.fp is not null, '19.2.1', stat.attributes ->> 'fp', 'the FP of its counter', null, (stat.attributes ->> 'fp')::integer),
    (3, stat.led <> 0, '3.3.1.2', to_char(stat.led, 'FMSG9'), 'command of leaders in the hex', null, stat.led),
    (
      3, stat.broken_leader is not null, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', stat.broken_leader), 'ccp-29', null
    ),
    (4, stat.untold is not null, '3.3.1.2', 'unknown', format('the command number of %s', stat.untold), null, null),
    (5, coalesce((stat.attributes ->> 'veteran')::boolean, false), '4.1.2', '+1', 'a veteran', null, 1),
    (6, coalesce((stat.attributes ->> 'suppressed')::boolean, false), '4.2.2', '-1', 'suppressed', null, -1),
    (7, stat.wire, 'F107.1', '-1', 'in wire', null, -1),
    (
      8, now.fp < 0, '19.2.1', case state.readings ->> 'ccp-41' when 'b' then '0' else now.fp::text end,
      'brought below 0', 'ccp-41', case state.readings ->> 'ccp-41' when 'b' then -now.fp end
    ),
    (9, coalesce((stat.attributes ->> 'boxed_fp')::boolean, false), '3.1.6', '+1', 'a boxed FP', null, 1)
  ) as fact (n, holds, rule, effect, note, point, value)
  where fact.holds
  order by stat.side desc, stat.code, fact.n
$$;

comment on function ccp._melee_steps(positions.state, ccp.stat[]) is
'What makes the Melee FP of both sides, unit by unit; weapons do not count (19.2.1, 3.1.6).';

create or replace function ccp.melee(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  place record;
  stats ccp.stat[];
  steps rulings.ledger_step[];
  fort record;
begin
  select * into state from positions.state(melee.position_id, melee.conditions, melee.policy);
  select found.q, found.r, cell.label into place
  from positions.place(melee.position_id, melee.hex) as found
  inner join public.hex as cell on cell.map_id = state.map_id and cell.q = found.q and cell.r = found.r;
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', melee.hex using errcode = 'no_data_found';
  end if;
  stats := array(
    select row(stat.*)::ccp.stat
    from ccp._stats(state) as stat
    where stat.q = place.q and stat.r = place.r and stat.kind <> 'aircraft'
    order by stat.id
  );
  select marker.kind, marker.attributes ->> 'held' as held into fort
  from public.marker
  where marker.position_id = state.position_id and marker.q = place.q and marker.r = place.r
    and marker.kind in ('bunker', 'pillbox')
  limit 1;
  steps := array(select row(step.*)::rulings.ledger_step from ccp._melee_steps(state, stats) as step);
  return query select * from unnest(steps);
  return query
  select '19.2.1', null::text, place.label,
    case when every.known then 'Melee FP' else 'unknown' end,
    case
      when every.known then format('Japan %s, the Allies %s', every.japan, every.allied) else 'the Melee FP of both sides'
    end,
    null::text, null::text, null::integer,
    jsonb_build_object(
      'label', place.label,
      'fp', jsonb_build_object('japan', every.japan, 'allied', every.allied),
      'known', every.known,
      'units', jsonb_build_object(
        'japan', (select coalesce(jsonb_agg(stat.code), '[]') from unnest(stats) as stat where stat.side = 'japan'),
        'allied', (select coalesce(jsonb_agg(stat.code), '[]') from unnest(stats) as stat where stat.side = 'allied')
      ),
      'fort', fort.kind,
      'held', fort.held,
      'modifiers', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object('rule', step.rule, 'value', step.halves / 2, 'note', step.note, 'side', step.by)
            order by step.n
          ), '[]'
        )
        from unnest(steps) with ordinality as step (rule, clause, at, effect, note, point, by, halves, facts, n)
        where step.halves is not null
      )
    )
  from (
    select
      coalesce(sum(step.halves) filter (where step.by = 'japan'), 0)::integer / 2 as japan,
      coalesce(sum(step.halves) filter (where step.by = 'allied'), 0)::integer / 2 as allied,
      not coalesce(bool_or(step.effect = 'unknown'), false) as known
    from unnest(steps) as step
  ) as every;
end
$$;

comment on function ccp.melee(bigint, text, jsonb, jsonb) is
'The Melee FP of both sides in a hex, who is there, and who last had a bunker or pillbox there alone (19.2.1, F101, F105).';

create or replace function ccp.played(name text, times integer, label text default null)
returns setof rulings.ledger_step
language sql immutable rows 2
as $$
  select action.rule, null::text, played.label, to_char(action.value, 'FMSG9'), action.title, null::text, null::text,
    2 * action.value, jsonb_build_object('value', action.value)
  from (
    values
    ('bayonets', 'A34', 'Bayonets, to the Melee roll', 2),
    ('light_wounds', 'A44', 'Light Wounds, in Victory Points', -1),
    ('no_quarter', 'A46', 'No Quarter, in Victory Points', 2)
  ) as action (name, rule, title, value)
  cross join generate_series(1, played.times)
  where action.name = played.name
$$;

comment on function ccp.played(text, integer, text) is
'What an action is worth that does not add to a Fire Attack, a row for each copy: Bayonets, Light Wounds, No Quarter.';
