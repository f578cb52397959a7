-- needs: ddp/actions.sql, ddp/fire.sql
-- Who is struck without fire from dots in ddp (D-Day at Peleliu): mortars 12.1, patrols 12.6, artillery 6.5, 12.7 and
-- 18.35, ambush 12.9.
--
-- `ddp.strike` tells every US unit that comes into question, and in its verdict the limit and the targets by rank.

drop type if exists ddp.victim cascade;
create type ddp.victim as (
  unit text,
  label text,
  priority integer,
  steps integer,
  away integer,
  strength integer,
  marked boolean,
  step boolean,
  disrupts boolean,
  rule text,
  why text,
  note text,
  point text,
  counter jsonb
);

comment on type ddp.victim is
'A US unit that a mortar, patrol, gun or ambush may strike, by priority; `why`: what keeps it safe.';

create or replace function ddp._within(scene ddp.scene, place text, most integer)
returns table (q integer, r integer, away integer)
language sql stable rows 60
as $$
  -- 12.6: over shallow water, not over the sea
  with recursive reached (q, r, away) as (
    select holder.q, holder.r, 0
    from unnest(scene.holders) as holder
    where coalesce(holder.place, holder.label) = _within.place
      and not holder.disrupted
    union
    select hex.q, hex.r, reached.away + 1
    from reached
    cross join lateral lattice.neighbours(reached.q, reached.r) as step
    inner join public.hex on hex.map_id = (scene.state).map_id and hex.q = step.nq and hex.r = step.nr
    where reached.away < _within.most
      and hex.terrain <> 'sea'
  )

  select reached.q, reached.r, min(reached.away)
  from reached
  group by reached.q, reached.r
$$;

comment on function ddp._within(ddp.scene, text, integer) is
'The hexes that a patrol of a position reaches, not over the sea (12.6).';

create or replace function ddp._mortar_range(scene ddp.scene, place text)
returns table (q integer, r integer)
language sql stable rows 60
as $$
  -- 12.1: four hexes; a mountaintop by its own boundary
  select hex.q, hex.r
  from public.map_feature as feature
  cross join lateral jsonb_array_elements_text(feature.attributes -> 'mortar') as bounded (label)
  inner join public.hex on hex.map_id = feature.map_id and hex.label = bounded.label
  where feature.map_id = (scene.state).map_id
    and feature.code = _mortar_range.place
    and ddp._flag(feature.attributes, 'mountaintop')
  union
  select disc.hq, disc.hr
  from unnest(scene.holders) as holder
  cross join lateral lattice.disc(holder.q, holder.r, 4) as disc
  where holder.place = _mortar_range.place
    and not holder.disrupted
    and not exists (
      select from public.map_feature as feature
      where feature.map_id = (scene.state).map_id
        and feature.code = _mortar_range.place
        and ddp._flag(feature.attributes, 'mountaintop')
        and feature.attributes ? 'mortar'
    )
$$;

comment on function ddp._mortar_range(ddp.scene, text) is
'The hexes within mortar range of a position (12.1).';

create or replace function ddp._victims(scene ddp.scene, place text, manner text, symbol text)
returns setof ddp.victim
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  -- ddp-47 b: the limit of one step is on fire of positions alone
  free_of_limit boolean := ((scene.state).readings ->> 'ddp-47') = 'b';
  boxes boolean := ((scene.state).readings ->> 'ddp-6') is distinct from 'b';
begin
  return query
  with candidate as (
    select
      man,
      case manner
        when 'artillery_fire' then case
          when man.box is not null and man.q is null then 1
          when man.beach then 2
          when man.terrain in ('clear', 'airstrip') then 3
          when exists (select from unnest(scene.dots) as dot where dot.q = man.q and dot.r = man.r) then 4
        end
        when 'artillery' then case
          when man.box is not null and man.q is null then 1
          when man.beach then 2
          else 3
        end
        when 'ambush' then case spot.grade when 'intense' then 1 when 'steady' then 2 end
        else 1
      end as priority,
      case
        when manner = 'artillery' then man.shore
        when manner = 'patrol' then near.away
        else (
          select min(lattice.distance(site.q, site.r, man.q, man.r))
          from unnest(scene.sites) as site
          where site.place = place
        )
      end as away,
      coalesce(man.symbol = symbol, false) or (man.crowded and manner <> 'patrol') as marked
    from unnest(scene.marines) as man
    left join lateral (
      select min(dot.role) as grade
      from public.map_feature as feature
      inner join public.map_feature_hex as dot on dot.feature = feature.id and dot.role in ('intense', 'steady')
      where manner = 'ambush'
        and feature.map_id = (scene.state).map_id
        and feature.code = place
        and dot.q = man.q
        and dot.r = man.r
    ) as spot on true
    left join lateral (
      select hex.away
      from ddp._within(scene, place, 4) as hex
      where manner = 'patrol' and hex.q = man.q and hex.r = man.r
    ) as near on true
    where man.kind is distinct from 'garrison'
      and case manner
        when 'patrol' then near.away is not null
        when 'patrol_field' then exists (
          select from unnest(scene.dots) as dot where dot.place = place and dot.q = man.q and dot.r = man.r
        )
        when 'mortar' then (man.q, man.r) in (select hex.q, hex.r from ddp._mortar_range(scene, place) as hex)
        when 'ambush' then spot.grade is not null
        when 'ridge_artillery' then man.q is not null
        else true
      end
  )

  select
    (one.man).code,
    coalesce((one.man).label, (one.man).box),
    one.priority,
    coalesce((one.man).steps, 0),
    one.away,
    coalesce((one.man).strength, 0),
    one.marked,
    manner not in ('patrol', 'patrol_field') and not (manner = 'ambush' and one.priority = 2),
    manner in ('patrol', 'patrol_field') or (manner = 'ambush' and one.priority = 2),
    bar.rule,
    bar.why,
    case
      when manner = 'artillery_fire' then (
        array[
          'in a landing box', 'in a landing beach hex', 'in a clear or airstrip hex', 'in the field of fire of a position'
        ]
      )[one.priority]
      when manner = 'artillery' then (
        array['in a landing box', 'in a landing beach hex', format('%s hexes from a landing beach', one.away)]
      )[one.priority]
      when manner = 'ambush' then (array['in an intense hex', 'in a steady hex'])[one.priority]
      when manner = 'mortar' then 'within mortar range, with the symbol of the card'
      when manner = 'patrol_field' then 'in the field of fire'
      when manner = 'patrol' then format('%s hexes away', one.away)
      else 'with the symbol of the card'
    end,
    case
      when (one.man).stepped and manner not in ('patrol', 'patrol_field') then 'ddp-47'
      when (one.man).box is not null and manner in ('artillery', 'artillery_fire') and one.marked then 'ddp-6'
      when manner = 'patrol' and (one.man).disrupted then 'ddp-53'
    end,
    jsonb_build_object('kind', (one.man).kind, 'attributes', (one.man).attributes)
  from candidate as one
  left join lateral (
    select
      entry.rule,
      entry.why
    from (
      values
      (
        1, (one.man).leader and manner in ('patrol', 'patrol_field'), '12.6', 'a patrol does not disrupt leaders'
      ),
      (2, (one.man).leader and manner = 'artillery', '6.5', 'artillery hits no HQ'),
      (3, (one.man).leader and manner not in ('patrol', 'patrol_field', 'artillery'), '10.4', 'no leader is hit so'),
      (
        4, manner not in ('patrol', 'patrol_field') and not one.marked, '6.1', 'it has not the symbol of the card'
      ),
      (5, one.priority is null, '12.7', 'it is in none of the places at which guns aim'),
      (
        6, (one.man).q is null and (one.man).box is not null
        and (not boxes or manner not in ('artillery', 'artillery_fire')), '6.24', 'it is safe in its landing box'
      ),
      (
        7, (one.man).stepped and not free_of_limit and manner not in ('patrol', 'patrol_field')
        and not (manner = 'ambush' and one.priority = 2), '6.34', 'it has lost a step in this Fire Phase'
      ),
      (
        8, manner = 'patrol' and (one.man).disrupted and ((scene.state).readings ->> 'ddp-53') is distinct from 'b',
        '12.6', 'it is disrupted already'
      )
    ) as entry (n, holds, rule, why)
    where entry.holds
    order by entry.n
    limit 1
  ) as bar on true;
end
$$;

comment on function ddp._victims(ddp.scene, text, text, text) is
'Every US unit that a mortar, a patrol, guns or an ambush might strike, and what keeps it safe (6.5, 12.1, 12.6, 12.7, 12.9).';

create or replace function ddp._strike_limit(scene ddp.scene, place text, manner text)
returns integer
language plpgsql stable
as $$
begin
  return case manner
    when 'patrol_field' then 99
    when 'mortar' then (
      select case
        when ((scene.state).readings ->> 'ddp-15') = 'b' then count(*) + count(*) filter (where holder.depth)
        else least(count(*) + count(*) filter (where holder.depth), 2)
      end::integer
      from unnest(scene.holders) as holder
      where holder.place = _strike_limit.place
        and not holder.disrupted
        and not holder.stance
    )
    else 1
  end;
end
$$;

comment on function ddp._strike_limit(ddp.scene, text, text) is
'How many units are struck: by mortars one or two (12.11, ddp-15), by a patrol all in the field, else one.';

create or replace function ddp._strike(scene ddp.scene, place text, manner text, symbol text)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  most integer := ddp._strike_limit(scene, place, manner);
  rule text := case manner
    when 'mortar' then '12.1' when 'patrol' then '12.6' when 'patrol_field' then '12.6' when 'ambush' then '12.9'
    when 'artillery_fire' then '12.7' when 'ridge_artillery' then '18.35' else '6.5'
  end;
  victims ddp.victim[] := array(select victim from ddp._victims(scene, place, manner, symbol) as victim);
begin
  return query
  select
    coalesce(victim.rule, rule),
    null::text,
    victim.label,
    case when victim.why is null then 'eligible' else 'passed over' end,
    format('%s: %s', victim.unit, coalesce(victim.why, victim.note)),
    victim.point,
    victim.unit,
    null::integer,
    null::jsonb
  from unnest(victims) as victim
  order by victim.why is not null, victim.priority, victim.steps desc, victim.unit;
  return next row(
    case when manner = 'mortar' then '12.11' else rule end, null, place, 'limit',
    case when manner = 'patrol_field' then 'all that are there' when most = 1 then 'one unit' else format('%s units', most) end,
    case when manner = 'mortar' and most >= 2 then 'ddp-15' end, null, null,
    jsonb_build_object(
      'limit', most,
      'targets', (
        select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.unit), '[]')
        from (
          select
            victim.unit,
            victim.label,
            victim.step,
            victim.disrupts,
            victim.counter,
            dense_rank() over (
              order by
                victim.priority,
                -- 12.6, 12.91: the closest; 6.5: the closest to a beach
                case when manner in ('patrol', 'ambush') or (manner = 'artillery' and victim.priority = 3) then victim.away else 0 end,
                case when manner = 'patrol' then (not victim.marked)::integer else 0 end,
                case manner when 'patrol' then -victim.strength when 'patrol_field' then 0 else -victim.steps end
            ) as rank
          from unnest(victims) as victim
          where victim.why is null
        ) as ranked
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp._strike(ddp.scene, text, text, text) is
'Whom mortars, a patrol, guns or an ambush strike: every unit with the rule, the limit and the targets by rank in the verdict.';

create or replace function ddp.strike(
  position_id bigint,
  place text,
  manner text,
  symbol text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select step.*
  from ddp._strike(
    ddp._scene(strike.position_id, strike.conditions, strike.policy), strike.place, strike.manner, strike.symbol
  ) as step;
end
$$;

comment on function ddp.strike(bigint, text, text, text, jsonb, jsonb) is
'Whom mortars, a patrol, guns or an ambush strike now: the verdict last.';

create or replace function ddp._artillery(scene ddp.scene, required integer, symbol text)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  have integer;
  turn integer := ((scene.state).conditions ->> 'turn')::integer;
  why text;
  rule text := '6.5';
  point text;
begin
  return query
  select
    case when not site.guns then '6.51' when holder.code is null then '6.51' else '6.5' end,
    null::text,
    site.label,
    case when site.guns and holder.code is not null and not holder.disrupted then 'counts' else 'does not count' end,
    format(
      '%s: %s', site.id,
      case
        when not site.guns then 'its guns are destroyed'
        when holder.code is null then 'nobody is there'
        when holder.disrupted then holder.code || ' is disrupted'
        else holder.code
      end
    ),
    null::text,
    holder.code,
    case when site.guns and holder.code is not null and not holder.disrupted then 2 else 0 end,
    null::jsonb
  from unnest(scene.sites) as site
  inner join unnest((scene.ground).spots) as spot on spot.q = site.q and spot.r = site.r and spot.artillery
  left join unnest(scene.holders) as holder on holder.label = site.label and not holder.fortification
  order by site.label;
  -- a position with guns counts once, by any undisrupted unit in it
  select count(distinct site.place) into have
  from unnest(scene.sites) as site
  inner join unnest(scene.holders) as holder
    on holder.label = site.label and not holder.fortification and not holder.disrupted
  where site.guns;
  if ddp._ridge((scene.state).conditions) then
    why := 'on Bloody Nose Ridge artillery values are disregarded';
    rule := '18.35';
  elsif turn = 1 then
    why := 'there is no artillery fire on turn 1';
  elsif ddp._overnight((scene.state).conditions) then
    point := 'ddp-51';
    if ((scene.state).readings ->> 'ddp-51') = 'b' then
      why := 'at night no artillery fires';
      rule := '16.0';
    end if;
  end if;
  if why is null and required is null then
    why := 'the card has no artillery value';
  elsif why is null and have < required then
    why := format('%s of %s artillery positions', have, required);
  end if;
  return next row(
    rule, null, null, case when why is null then 'fires' else 'no fire' end,
    coalesce(why, format('%s artillery positions, %s are enough', have, required)), point, null, 2 * have,
    jsonb_build_object('required', required, 'have', have, 'fires', why is null)
  )::rulings.ledger_step;
  if why is null then
    return query
    select step.* from ddp._strike(scene, '', 'artillery', symbol) as step;
  end if;
end
$$;

comment on function ddp._artillery(ddp.scene, integer, text) is
'Whether Japanese artillery fires by the value of a fire card: the positions that count and the verdict (6.5, 6.51, ddp-51); if it
does, whom it strikes.';

create or replace function ddp.artillery(
  position_id bigint, required integer, symbol text default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select step.*
  from ddp._artillery(
    ddp._scene(artillery.position_id, artillery.conditions, artillery.policy), artillery.required, artillery.symbol
  ) as step;
end
$$;

comment on function ddp.artillery(bigint, integer, text, jsonb, jsonb) is
'Japanese artillery by the value of a fire card: whether it fires, and whom it strikes (6.5).';

create or replace function ddp._recovering(holders ddp.occupant[], colors text[])
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select
    case when holder.place is null then '13.2' else '6.42' end,
    null::text,
    holder.label,
    case when shade.color = any(colors) then 'recovers' else 'stays disrupted' end,
    format(
      '%s: %s', holder.code,
      case when shade.color = any(colors) then shade.color || ' is on the card' else coalesce(shade.color, 'its color') || ' is not on the card' end
    ),
    case when holder.stance and holder.place is null then 'ddp-12' end,
    holder.code,
    null::integer,
    case when shade.color = any(colors) then jsonb_build_object('unit', holder.code, 'fortification', holder.fortification, 'label', holder.label) end
  from unnest(holders) as holder
  cross join lateral (
    -- ddp-12: outside a position by the marker's color, else the tank's own
    select case
      when holder.place is not null and not holder.provisional then holder.color
      else coalesce(holder.attributes -> 'counterattack' ->> 'color', holder.attributes ->> 'color')
    end as color
  ) as shade
  where holder.disrupted
  order by holder.code, holder.label
$$;

comment on function ddp._recovering(ddp.occupant[], text[]) is
'Every disrupted Japanese unit, and whether a fire card of these colors undisrupts it (6.42, ddp-12).';

create or replace function ddp.recovering(
  position_id bigint, colors text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select step.*
  from positions.state(recovering.position_id, recovering.conditions, recovering.policy) as state
  cross join lateral ddp._recovering(array(select held from ddp._occupants(state) as held), colors) as step
$$;

comment on function ddp.recovering(bigint, text[], jsonb, jsonb) is
'Who recovers by a fire card of these colors (6.42).';
