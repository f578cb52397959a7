-- needs: positions/place.sql, ccp/morale.sql
-- Who stands together in a ccp hex, and what that does to Cover and morale: 15, 3.3.5, T81.3, F100.3, F102.1.2.
--
-- In play a hex may hold any number of units; what is above seven soldier figures takes as much
-- off its Cover. Illegal is only what may never be in one hex, or on one unit.

create or replace function ccp._crowd_steps(crowd ccp.crowd)
returns setof ccp.stat_step
language sql stable parallel safe rows 3
as $$
  select
    fact.n,
    null,
    fact.rule,
    fact.effect,
    fact.note,
    null
  from (
    select
      coalesce(crowd.blazes > 0, false) or crowd.terrain = 'blaze' as blaze,
      coalesce(crowd.smokes > 0, false) as smoke
  ) as has
  cross join lateral (
    values
    (
      crowd.codes is not null, 1, '15.2.1', crowd.figures::text,
      format('soldier figures of both sides, inside a cave or not: %s', crowd.codes)
    ),
    (
      crowd.excess > 0, 2, '15.2.2', (-crowd.excess)::text,
      format('%s above seven: the Cover of the hex is that much less', crowd.excess)
    ),
    (
      crowd.excess > 0, 3, '15.2.3', 'not at set-up', 'a hex may be overstacked only once play has begun'
    ),
    (
      has.blaze and (crowd.codes is not null or crowd.forts > 0 or has.smoke), 6, '15.1.5', 'forbids',
      'where a blaze is no unit, fortification or smoke may be'
    ),
    (crowd.blazes > 1, 6, '15.1.5', 'forbids', format('one blaze a hex, not %s', crowd.blazes)),
    (
      crowd.forts > 1, 6, '15.1.3', 'forbids',
      format('one fortification a hex; the first placed stays: %s', crowd.fort_kinds)
    ),
    (
      crowd.forts > 0 and ccp._is_water(crowd.terrain), 6, 'F100.3', 'forbids',
      format('no fortification is in water terrain: %s', crowd.fort_kinds)
    ),
    (
      (has.blaze or has.smoke) and ccp._is_water(crowd.terrain), 6,
      case crowd.terrain when 'stream' then 'T96' when 'swamp' then 'T97' else 'T99' end, 'forbids',
      'no blaze or smoke is in water terrain'
    ),
    (
      crowd.smokes > 1, 8, '15.1.4', crowd.smoke::text,
      format('of %s smoke markers the one with the largest Hindrance stays', crowd.smokes)
    )
  ) as fact (holds, n, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._crowd_steps(ccp.crowd) is
'What stacking does, and what may not be in one hex (15.1, 15.2, F100.3, T96, T97, T99).';

create or replace function ccp._weapon_steps(crowd ccp.crowd)
returns setof ccp.stat_step
language sql stable parallel safe rows 1
as $$
  select
    7,
    stat.code,
    '15.1.1',
    'forbids',
    format('%s, a leader, has a weapon that slows movement: %s', stat.code, stat.attributes -> 'weapon' ->> 'name'),
    null
  from unnest(crowd.stats) as stat
  where stat.kind not in ('squad', 'team')
    and (stat.attributes -> 'weapon' ->> 'movement')::integer < 0
$$;

comment on function ccp._weapon_steps(ccp.crowd) is
'Leaders with a weapon that they may not have (15.1.1).';

create or replace function ccp._stack_verdict(crowd ccp.crowd, covers ccp.cover[], illegal boolean)
returns rulings.ledger_step
language plpgsql immutable
as $$
declare
  verdict rulings.ledger_step;
begin
  verdict.rule := '15.2.1';
  verdict.at := crowd.label;
  verdict.effect := case when illegal then 'illegal' else 'legal' end;
  verdict.note := case
    when illegal then 'not all of this may be in one hex'
    when crowd.excess > 0 then format('overstacked by %s, at the price of Cover', crowd.excess)
    else 'within the stacking limit'
  end;
  verdict.facts := jsonb_build_object(
    'figures', crowd.figures,
    'limit', 7,
    'over', crowd.excess,
    'at_setup', crowd.excess = 0,
    'cover', ccp._cover(covers, false) - crowd.excess,
    'morale', coalesce(
      (
        select jsonb_object_agg(stat.code, worth.morale)
        from unnest(crowd.stats) as stat
        cross join lateral (
          select ccp._morale(stat, ccp._unit_cover(crowd, covers, stat)) as morale
        ) as worth
        where worth.morale is not null
          and stat.untold is null
      ), '{}'
    ),
    'smoke', crowd.smoke
  );
  return verdict;
end
$$;

comment on function ccp._stack_verdict(ccp.crowd, ccp.cover[], boolean) is
'Whether all of it may be in one hex, with figures, Cover and the morale of every unit (15.2.1).';

create or replace function ccp.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  place record;
  state positions.state;
  crowd ccp.crowd;
  covers ccp.cover[];
  step ccp.stat_step;
  illegal boolean := false;
begin
  select * into place from positions.place(stack.position_id, stack.hex);
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', stack.hex using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(stack.position_id, stack.conditions, stack.policy);
  crowd := ccp._crowd(state, place.q, place.r);
  covers := array(select found from ccp._covers(state, place.q, place.r) as found);
  for step in
    select line.*
    from (
      select * from ccp._crowd_steps(crowd)
      union all
      select * from ccp._cover_steps(covers)
      union all
      select * from ccp._weapon_steps(crowd)
      union all
      select worth.*
      from unnest(crowd.stats) as stat
      cross join lateral ccp._morale_steps(stat, ccp._unit_cover(crowd, covers, stat)) as worth
      union all
      select distinct 16, null, '3.3.1.2', 'unknown', format('the command number of %s', stat.untold), null
      from unnest(crowd.stats) as stat
      where stat.untold is not null
    ) as line
    -- what makes a unit's morale stands together
    order by
      case when line.n between 9 and 15 then 9 else line.n end, line.code, line.n, line.rule, line.note, line.effect
  loop
    illegal := illegal or step.effect = 'forbids';
    return next row(
      step.rule, null, crowd.label, step.effect, step.note, step.point, null, null, null
    )::rulings.ledger_step;
  end loop;
  return next ccp._stack_verdict(crowd, covers, illegal);
end
$$;

comment on function ccp.stack(bigint, text, jsonb, jsonb) is
'Who and what is together in a hex: figures against the limit, Cover, morale; a row a rule, the verdict last.';
