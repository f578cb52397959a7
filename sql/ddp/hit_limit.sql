-- needs: ddp/fields.sql, ddp/spots.sql, rulings/step.sql
-- How many US units a Japanese position may hit in ddp (D-Day at Peleliu): 6.31, 6.41, 12.11, 12.9, 18.34, 19.3.

create or replace function ddp._counters_in(state positions.state, place text)
returns table (code text, label text, counts boolean, units integer, depth integer, why text)
language sql stable parallel safe rows 4
as $$
  select
    held.code,
    held.label,
    not held.disrupted,
    1,
    case when held.depth then 1 else 0 end,
    case
      when held.disrupted then format('%s is disrupted: neither it nor its depth counts', held.code)
      when held.fortification and held.depth then 'the fortification and the depth beneath it'
      when held.fortification then 'the fortification'
      when held.depth then format('%s and its depth', held.code)
      else held.code
    end
  from ddp._occupants(state) as held
  where coalesce(held.place, held.label) = _counters_in.place
$$;

comment on function ddp._counters_in(positions.state, text) is
'The units of a position, and on Bloody Nose Ridge its fortification, with what each adds to the hit limit (6.31, 6.41, 19.3).';

create or replace function ddp._us_under_fire(state positions.state, place text)
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select min(unit.code)
    from ddp._us_units(state) as unit
    inner join ddp._fields(state, 'fire') as field on field.place = _us_under_fire.place
    cross join lateral ddp._dots_of(state, field, 'fire') as dot
    where ddp._flag(unit.attributes, 'action_under_fire')
      and dot.grade = 'intense'
      and dot.q = unit.q
      and dot.r = unit.r
  );
end
$$;

comment on function ddp._us_under_fire(positions.state, text) is
'A US unit with an Action Under Fire marker in the intense field of a position; null where there is none (18.34).';

create or replace function ddp.hit_limit(
  position_id bigint, place text, fire text default 'position', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  asked text := ddp._place_named(hit_limit.position_id, hit_limit.place);
  counters integer;
  under_fire text;
  total integer;
begin
  select * into state from positions.state(hit_limit.position_id, hit_limit.conditions, hit_limit.policy);
  if asked is null then
    select hex.label into asked
    from positions.place(hit_limit.position_id, hit_limit.place) as spot
    inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r
    where exists (select from ddp._occupants(state) as held where held.q = spot.q and held.r = spot.r and held.cave);
  end if;
  if asked is null then
    perform ddp._asked_place(hit_limit.position_id, hit_limit.place);
  end if;
  if hit_limit.fire = 'ambush' then
    return query
    select
      '12.9', null::text, null::text, 'limit', 'an ambush hits one unit', null::text, null::text, null::integer,
      '{"limit": 1}'::jsonb;
    return;
  end if;
  return query
  select
    case when not one.counts then '6.41' when one.code = 'fortification' then '19.3' else '6.31' end,
    null::text,
    one.label,
    case when one.counts then 'adds' else 'does not count' end,
    one.why,
    null::text,
    one.code,
    case when one.counts then 2 * (one.units + one.depth) else 0 end,
    null::jsonb
  from ddp._counters_in(state, asked) as one
  order by one.label, one.code;
  select coalesce(sum(one.units + one.depth) filter (where one.counts), 0) into counters
  from ddp._counters_in(state, asked) as one;
  total := counters;
  if hit_limit.fire = 'mortar' then
    total := case when state.readings ->> 'ddp-15' = 'b' then counters else least(counters, 2) end;
    return query
    select
      '12.11',
      null::text,
      null::text,
      case when counters > total then 'at most two' else 'limit' end,
      'mortars hit one unit from a lone unit, at most two from any more',
      case when counters > 2 then 'ddp-15' end,
      null::text,
      null::integer,
      null::jsonb;
  elsif ddp._ridge(state.conditions) and counters > 0 then
    under_fire := ddp._us_under_fire(state, asked);
    if under_fire is not null then
      total := total + 1;
      return query
      select
        '18.34',
        null::text,
        null::text,
        'adds',
        format('%s acted under fire in its intense field', under_fire),
        null::text,
        under_fire,
        2,
        null::jsonb;
    end if;
  end if;
  return query
  select
    case when hit_limit.fire = 'mortar' then '12.11' when ddp._ridge(state.conditions) then '19.3' else '6.31' end,
    null::text,
    null::text,
    'limit',
    case when total = 1 then 'one unit' else format('%s units', total) end,
    case when (select count(*) from ddp._spots(state.map_id) as spot where spot.place = asked) > 2 then 'ddp-52' end,
    null::text,
    2 * total,
    jsonb_build_object('limit', total);
end
$$;

comment on function ddp.hit_limit(bigint, text, text, jsonb, jsonb) is
'How many US units a position, a mortar or an ambush may hit; the verdict last (6.31, 6.41, 12.11, 18.34, 19.3).';
