-- needs: ccp/arms.sql, ccp/morale.sql, ccp/verdicts.sql, positions/place.sql
-- The numbers of one ccp unit and of its weapon as they are now, and the Cover it has: 3.1, 3.3.1.2, 3.3.1.3, 4, 5, F107.1, T81.3.

create or replace function ccp._number_steps(stat ccp.stat)
returns setof rulings.ledger_step
language sql stable parallel safe rows 5
as $$
  select fact.rule, null, stat.label, fact.effect, format('%s: %s', stat.code, fact.note), fact.point, stat.code,
    2 * fact.value, null::jsonb
  from (
    values
    (
      stat.led <> 0, '3.3.1.2', to_char(stat.led, 'FMSG9'),
      'FP, range, movement and morale by command of leaders in its hex', null, stat.led
    ),
    (
      stat.broken_leader is not null, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', stat.broken_leader), 'ccp-29', null
    ),
    (stat.untold is not null, '3.3.1.2', 'unknown', format('the command number of %s', stat.untold), null, null),
    (
      coalesce((stat.attributes ->> 'veteran')::boolean, false), '4.1.2', '+1',
      'FP, range, movement and morale of a veteran', null, 1
    ),
    (
      coalesce((stat.attributes ->> 'suppressed')::boolean, false), '4.2.2', '-1',
      'FP, range, movement and morale of a suppressed unit', null, -1
    ),
    (stat.wire, 'F107.1', '-1', 'FP, range and morale in wire', null, -1),
    (
      coalesce((stat.attributes -> 'weapon' ->> 'movement')::integer, 0) <> 0, '5.1',
      stat.attributes -> 'weapon' ->> 'movement', 'movement by the weapon it carries', null,
      (stat.attributes -> 'weapon' ->> 'movement')::integer
    )
  ) as fact (holds, rule, effect, note, point, value)
  where fact.holds
$$;

comment on function ccp._number_steps(ccp.stat) is
'What changes the numbers of a unit where it stands, but for Cover (3.3.1.2, 4, 5.1, F107.1).';

create or replace function ccp._weapon_facts(stat ccp.stat, arm ccp.arm)
returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'fp', arm.fp,
  'range', case when arm.nearest > 1 then to_jsonb(array[arm.nearest, arm.farthest]) else to_jsonb(arm.farthest) end,
  'may_fire', arm.barred is null
);

comment on function ccp._weapon_facts(ccp.stat, ccp.arm) is
'The numbers of a weapon as they are now, and whether it may be fired (3.3.1.3, 5.1).';

create or replace function ccp.stats(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  asked positions.counter := ccp._on_map(stats.position_id, stats.unit);
  state positions.state;
  stat ccp.stat;
  weapon ccp.arm;
  crowd ccp.crowd;
  covers ccp.cover[];
  cover integer;
  said jsonb;
  change integer;
begin
  select * into state from positions.state(stats.position_id, stats.conditions, stats.policy);
  select found.* into stat from ccp._stats(state) as found where found.id = asked.id;
  select arm.* into weapon from ccp._arms(state) as arm where arm.unit = asked.id and arm.arm = 'weapon';
  crowd := ccp._crowd(state, stat.q, stat.r);
  covers := array(select found from ccp._covers(state, stat.q, stat.r) as found);
  cover := ccp._unit_cover(crowd, covers, stat);
  said := stat.attributes;
  change := stat.led + stat.status;
  return query select * from ccp._number_steps(stat);
  return query
  select step.rule, null, stat.label, step.effect, step.note, step.point, stat.code, null::integer, null::jsonb
  from ccp._cover_steps(covers) as step;
  if crowd.excess > 0 then
    return next row(
      '15.2.2', null, stat.label, (-crowd.excess)::text, 'Cover, by soldier figures above seven', null, stat.code,
      -2 * crowd.excess, null
    )::rulings.ledger_step;
  end if;
  if weapon.unit is not null and weapon.barred is not null then
    return next row(
      weapon.barred_by, null, stat.label, 'no fire', format('%s: %s', weapon.name, weapon.barred), null, stat.code,
      null, null
    )::rulings.ledger_step;
  elsif weapon.unit is not null and weapon.led <> 0 then
    return next row(
      '3.3.1.3', null, stat.label, to_char(weapon.led, 'FMSG9'), format('%s: FP and range by command', weapon.name), null,
      stat.code, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    '3.1', null, stat.label, 'stats', format('%s as it stands', stat.code), null, stat.code, null,
    jsonb_build_object(
      'fp', (said ->> 'fp')::integer + change - stat.wire::integer,
      'range', (said ->> 'range')::integer + change - stat.wire::integer,
      'movement', (said ->> 'movement')::numeric + change + coalesce((said -> 'weapon' ->> 'movement')::integer, 0),
      'morale', ccp._morale(stat, cover),
      'cover', cover,
      'weapon', case when weapon.unit is not null then ccp._weapon_facts(stat, weapon) end
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.stats(bigint, text, jsonb, jsonb) is
'The numbers of a unit and of its weapon as they are now: printed, command, markers, wire, Cover; the sums last.';

create or replace function ccp._sees(
  state positions.state, unit bigint, q integer, r integer, target bigint, tq integer, tr integer
)
returns boolean
language sql stable
as $$
  select bool_or(verdict.visible)
  from ccp._few_verdicts(row(state, _sees.q, _sees.r, _sees.unit, array[tq], array[tr], target)::ccp.sighting) as verdict
$$;

comment on function ccp._sees(positions.state, bigint, integer, integer, bigint, integer, integer) is
'Whether a place, or the unit there, sees a hex, or the unit in it.';

create or replace function ccp.cover(
  position_id bigint,
  of text,
  against text default 'fire',
  "from" text default null,
  chosen text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  place record;
  source record;
  stat ccp.stat;
  crowd ccp.crowd;
  covers ccp.cover[];
  downslope boolean := true;
  within boolean;
  fixed boolean := cover.against in ('flamethrower', 'mines');
  best integer;
begin
  select * into place from positions.place(cover.position_id, cover.of);
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', cover.of using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(cover.position_id, cover.conditions, cover.policy);
  select found.* into stat from ccp._stats(state) as found where found.id = place.unit;
  crowd := ccp._crowd(state, place.q, place.r);
  within := coalesce(ccp._is_inside(stat), false);
  if cover."from" is not null and within then
    select * into source from positions.place(cover.position_id, cover."from");
    downslope := ccp._sees(state, source.unit, source.q, source.r, place.unit, place.q, place.r);
    return next row(
      'F102.2.1', null, crowd.label, case when downslope then 'downslope' else 'upslope' end,
      format('%s lies so to the cave', positions.spoken(cover."from")), null, null, null, null
    )::rulings.ledger_step;
  end if;
  covers := array(select found from ccp._covers(state, place.q, place.r, cover.against, downslope) as found);
  best := case
    when fixed then 0 - case when state.readings ->> 'ccp-16' = 'b' then crowd.excess else 0 end
    else coalesce(
      (
        select max(found.value)
        from unnest(covers) as found
        where (within or not found.inside)
          and (cover.chosen is null or state.readings ->> 'ccp-15' = 'b' or found.source = replace(cover.chosen, '_', ' '))
      ), ccp._cover(covers, within)
    ) - crowd.excess
  end;
  if fixed then
    return next row(
      case cover.against when 'mines' then 'F104.2' else '5.6' end, null, crowd.label, '0',
      format('Cover against %s', case cover.against when 'mines' then 'mines' else 'a flamethrower' end), null, null, 0, null
    )::rulings.ledger_step;
  else
    return query
    select step.rule, null, crowd.label, step.effect, step.note,
      case when cardinality(covers) > 1 and cover.chosen is not null then 'ccp-15' end, null, null::integer, null::jsonb
    from ccp._cover_steps(covers) as step;
  end if;
  if crowd.excess > 0 then
    return next row(
      '15.2.2', null, crowd.label,
      case when fixed and state.readings ->> 'ccp-16' = 'a' then 'passes' else (-crowd.excess)::text end,
      'soldier figures above seven', case when fixed then 'ccp-16' end, null, -2 * crowd.excess, null
    )::rulings.ledger_step;
  end if;
  return next row(
    'T81.3.1', null, crowd.label, coalesce(best::text, 'none'), 'the Cover that counts', null, null, 2 * best,
    jsonb_build_object(
      'cover', best,
      'choices', coalesce(
        (
          select jsonb_agg(distinct found.value - crowd.excess)
          from unnest(covers) as found
          where (within or not found.inside) and not fixed
        ), case when fixed then jsonb_build_array(best) else '[]' end
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.cover(bigint, text, text, text, text, jsonb, jsonb) is
'The Cover that a unit or a hex has against fire, mortar, artillery, aircraft, flamethrower or mines: the best, or the one
chosen, less overstacking (T81.3, 5.6, 15.2.2, F101 to F106).';
