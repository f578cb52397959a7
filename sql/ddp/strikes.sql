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
  select man.q, man.r
  from unnest(scene.holders) as holder
  inner join unnest(scene.marines) as man on lattice.distance(holder.q, holder.r, man.q, man.r) <= 4
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
'The hexes with US units within mortar range of a position (12.1); a mountaintop tells its own.';

drop type if exists ddp.candidate cascade;
create type ddp.candidate as (
  unit text,
  priority integer,
  away integer
);

comment on type ddp.candidate is
'A US unit that comes into question for a strike by where it stands: the same while nobody moves, comes or leaves.';

create or replace function ddp._to_place(scene ddp.scene, place text, q integer, r integer)
returns integer
language plpgsql immutable
as $$
begin
  return (
    select min(lattice.distance(site.q, site.r, _to_place.q, _to_place.r))
    from unnest(scene.sites) as site
    where site.place = _to_place.place
  );
end
$$;

comment on function ddp._to_place(ddp.scene, text, integer, integer) is
'Hexes to the nearest hex of a position.';

create or replace function ddp._aimed_at(scene ddp.scene, place text, manner text)
returns setof ddp.candidate
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
begin
  case manner
    when 'patrol' then
      return query
      select man.code, 1, near.away
      from ddp._within(scene, place, 4) as near
      inner join unnest(scene.marines) as man on man.q = near.q and man.r = near.r;
    when 'patrol_field' then
      return query
      select man.code, 1, ddp._to_place(scene, place, man.q, man.r)
      from unnest(scene.marines) as man
      where exists (select from unnest(scene.dots) as dot where dot.place = place and dot.q = man.q and dot.r = man.r);
    when 'mortar' then
      return query
      select man.code, 1, ddp._to_place(scene, place, man.q, man.r)
      from unnest(scene.marines) as man
      where (man.q, man.r) in (select hex.q, hex.r from ddp._mortar_range(scene, place) as hex);
    when 'ambush' then
      return query
      select man.code, case min(dot.grade) when 'intense' then 1 else 2 end, ddp._to_place(scene, place, man.q, man.r)
      from unnest(scene.marines) as man
      inner join unnest((scene.ground).printed) as dot on dot.place = place and dot.q = man.q and dot.r = man.r
      group by man.code, man.q, man.r;
    when 'ridge_artillery' then
      return query
      select man.code, 1, ddp._to_place(scene, place, man.q, man.r)
      from unnest(scene.marines) as man
      where man.q is not null;
    when 'artillery' then
      -- 6.5: boxes, beaches, then whoever is nearest to one
      return query
      select man.code, case when man.box is not null and man.q is null then 1 when man.beach then 2 else 3 end, man.shore
      from unnest(scene.marines) as man;
    else
      -- 12.7: boxes, beaches, open ground, fields of fire
      return query
      select
        man.code,
        case
          when man.box is not null and man.q is null then 1
          when man.beach then 2
          when man.terrain in ('clear', 'airstrip') then 3
          when exists (select from unnest(scene.dots) as dot where dot.q = man.q and dot.r = man.r) then 4
        end,
        ddp._to_place(scene, place, man.q, man.r)
      from unnest(scene.marines) as man;
  end case;
end
$$;

comment on function ddp._aimed_at(ddp.scene, text, text) is
'Whom mortars, a patrol, guns or an ambush might strike by where they stand, and in which order (6.5, 12.1, 12.6, 12.7, 12.9).';

create or replace function ddp._safe_by(scene ddp.scene, man ddp.man, manner text, priority integer, marked boolean)
returns text[]
language plpgsql stable
as $$
declare
  readings jsonb := (scene.state).readings;
  patrol boolean := manner in ('patrol', 'patrol_field');
begin
  return case
    when man.leader and patrol then array['12.6', 'a patrol does not disrupt leaders']
    when man.leader and manner = 'artillery' then array['6.5', 'artillery hits no HQ']
    when man.leader then array['10.4', 'no leader is hit so']
    when not patrol and not marked then array['6.1', 'it has not the symbol of the card']
    when priority is null then array['12.7', 'it is in none of the places at which guns aim']
    when man.q is null and man.box is not null
      and (readings ->> 'ddp-6' = 'b' or manner not in ('artillery', 'artillery_fire'))
      then array['6.24', 'it is safe in its landing box']
    -- ddp-47 b: the limit of one step is on fire of positions alone
    when man.stepped and not patrol and not (manner = 'ambush' and priority = 2)
      and readings ->> 'ddp-47' is distinct from 'b'
      then array['6.34', 'it has lost a step in this Fire Phase']
    when manner = 'patrol' and man.disrupted and readings ->> 'ddp-53' is distinct from 'b'
      then array['12.6', 'it is disrupted already']
  end;
end
$$;

comment on function ddp._safe_by(ddp.scene, ddp.man, text, integer, boolean) is
'What keeps a US unit safe from a strike, the first rule and how it says it; null where nothing does.';

create or replace function ddp._struck_as(manner text, priority integer, away integer)
returns text
language sql stable
return case manner
  when 'artillery_fire' then (
    array[
      'in a landing box', 'in a landing beach hex', 'in a clear or airstrip hex', 'in the field of fire of a position'
    ]
  )[priority]
  when 'artillery' then (
    array['in a landing box', 'in a landing beach hex', format('%s hexes from a landing beach', away)]
  )[priority]
  when 'ambush' then (array['in an intense hex', 'in a steady hex'])[priority]
  when 'mortar' then 'within mortar range, with the symbol of the card'
  when 'patrol_field' then 'in the field of fire'
  when 'patrol' then format('%s hexes away', away)
  else 'with the symbol of the card'
end;

comment on function ddp._struck_as(text, integer, integer) is
'Why a US unit comes into question for a strike.';

create or replace function ddp._victims(scene ddp.scene, manner text, symbol text, candidates ddp.candidate[])
returns setof ddp.victim
language sql stable rows 10
as $$
  select
    man.code,
    coalesce(man.label, man.box),
    one.priority,
    coalesce(man.steps, 0),
    one.away,
    coalesce(man.strength, 0),
    card.marked,
    not hurt.disrupts,
    hurt.disrupts,
    safe.by[1],
    safe.by[2],
    ddp._struck_as(manner, one.priority, one.away),
    case
      when man.stepped and manner not in ('patrol', 'patrol_field') then 'ddp-47'
      when man.box is not null and manner in ('artillery', 'artillery_fire') and card.marked then 'ddp-6'
      when manner = 'patrol' and man.disrupted then 'ddp-53'
    end,
    jsonb_build_object('kind', man.kind, 'attributes', man.attributes)
  from unnest(candidates) as one
  inner join unnest(scene.marines) as man on man.code = one.unit
  cross join lateral (
    -- 6.35: in a hex of seven steps every unit has the symbol
    select coalesce(man.symbol = _victims.symbol, false) or (man.crowded and manner <> 'patrol') as marked
  ) as card
  -- 12.6, 12.9: a patrol, and an ambush in a steady hex, disrupts
  cross join lateral (
    select manner in ('patrol', 'patrol_field') or (manner = 'ambush' and one.priority = 2) as disrupts
  ) as hurt
  cross join lateral (select ddp._safe_by(scene, man, manner, one.priority, card.marked) as by offset 0) as safe
  where man.kind is distinct from 'garrison'
$$;

comment on function ddp._victims(ddp.scene, text, text, ddp.candidate[]) is
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

create or replace function ddp._struck(
  scene ddp.scene, place text, manner text, symbol text, most integer, candidates ddp.candidate[]
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  rule text := case manner
    when 'mortar' then '12.1' when 'patrol' then '12.6' when 'patrol_field' then '12.6' when 'ambush' then '12.9'
    when 'artillery_fire' then '12.7' when 'ridge_artillery' then '18.35' else '6.5'
  end;
  victims ddp.victim[] := array(select victim from ddp._victims(scene, manner, symbol, candidates) as victim);
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

comment on function ddp._struck(ddp.scene, text, text, text, integer, ddp.candidate[]) is
'Whom mortars, a patrol, guns or an ambush strike: every unit with the rule, the limit and the targets by rank in the verdict.';

create or replace function ddp._strike(scene ddp.scene, place text, manner text, symbol text)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
declare
  candidates ddp.candidate[] := array(select one from ddp._aimed_at(scene, place, manner) as one);
begin
  return query
  select step.* from ddp._struck(scene, place, manner, symbol, ddp._strike_limit(scene, place, manner), candidates) as step;
end
$$;

comment on function ddp._strike(ddp.scene, text, text, text) is
'Whom a position strikes, out of all who come into question.';

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

drop type if exists ddp.emplacement cascade;
create type ddp.emplacement as (
  place text,
  id text,
  label text,
  destroyed boolean
);

comment on type ddp.emplacement is
'A position hex with artillery, and whether its guns are destroyed (6.51).';

create or replace function ddp._emplacements(scene ddp.scene)
returns setof ddp.emplacement
language sql stable rows 8
as $$
  select
    spot.place,
    spot.own,
    spot.label,
    ddp._guns_destroyed(scene.state, spot.q, spot.r)
  from ddp._own_spots((scene.ground).spots) as spot
  where spot.artillery
$$;

comment on function ddp._emplacements(ddp.scene) is
'Every position hex with artillery (6.5, 6.51).';

create or replace function ddp._artillery(scene ddp.scene, required integer, symbol text)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  guns ddp.emplacement[] := array(select gun from ddp._emplacements(scene) as gun);
  have integer;
  turn integer := ((scene.state).conditions ->> 'turn')::integer;
  why text;
  rule text := '6.5';
  point text;
begin
  return query
  select
    case when gun.destroyed then '6.51' when holder.code is null then '6.51' else '6.5' end,
    null::text,
    gun.label,
    case when not gun.destroyed and holder.code is not null and not holder.disrupted then 'counts' else 'does not count' end,
    format(
      '%s: %s', gun.id,
      case
        when gun.destroyed then 'its guns are destroyed'
        when holder.code is null then 'nobody is there'
        when holder.disrupted then holder.code || ' is disrupted'
        else holder.code
      end
    ),
    null::text,
    holder.code,
    case when not gun.destroyed and holder.code is not null and not holder.disrupted then 2 else 0 end,
    null::jsonb
  from unnest(guns) as gun
  left join unnest(scene.holders) as holder on holder.label = gun.label and not holder.fortification
  order by gun.label;
  -- a position with guns counts once, by any undisrupted unit in it
  select count(distinct gun.place) into have
  from unnest(guns) as gun
  inner join unnest(scene.holders) as holder
    on holder.label = gun.label and not holder.fortification and not holder.disrupted
  where not gun.destroyed;
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
