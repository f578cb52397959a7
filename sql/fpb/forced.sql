-- needs: fpb/reach.sql, fpb/rebuild.sql
-- What the solitaire Japanese of fpb (Forgotten Pacific Battles) see before they move and attack: 16.1, 16.2, 16.2.1.
--
-- Here are the hexes, steps and fronts; the searches over them, for a way and for a set of attacks, are in app/play/fpb.

create or replace function fpb.march_hexes(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (
  label text, q integer, r integer, zoned boolean, enemy boolean, friend boolean, sea boolean, airstrip boolean,
  beach boolean
)
language sql stable rows 300
as $$
  select
    ground.label,
    ground.q,
    ground.r,
    ground.zoned,
    ground.enemy is not null,
    ground.friends > 0,
    ground.all_sea,
    'airstrip' = any(hex.features),
    exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'landing_beach'
        and marker.q = ground.q
        and marker.r = ground.r
    )
  from positions.state(march_hexes.position_id, march_hexes.conditions, march_hexes.policy) as state
  cross join lateral (
    select array_agg(hex.q order by hex.q, hex.r) as qs, array_agg(hex.r order by hex.q, hex.r) as rs
    from public.hex
    where hex.map_id = state.map_id
  ) as whole
  cross join lateral fpb._mover(state, march_hexes.unit) as mover
  cross join lateral fpb._ground(state, mover, whole.qs, whole.rs) as ground
  inner join public.hex on hex.map_id = state.map_id and hex.q = ground.q and hex.r = ground.r
$$;

comment on function fpb.march_hexes(bigint, text, jsonb, jsonb) is
'Every hex of the island as a unit meets it on the march: enemy zones, who is there, airstrips, landing beaches (16.1).';

create or replace function fpb.march_legs(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns table (start text, goal text, halves integer, zone integer, shut boolean)
-- how many hexes an array holds is not known beforehand: steps are found by hash, not one by one
language plpgsql stable rows 1000 set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  state positions.state;
  mover fpb.mover;
  grounds fpb.ground[];
  crossings fpb.crossing[];
begin
  select * into state from positions.state(march_legs.position_id, march_legs.conditions, march_legs.policy);
  mover := fpb._mover(state, march_legs.unit);
  grounds := array(
    select ground
    from (
      select array_agg(hex.q order by hex.q, hex.r) as qs, array_agg(hex.r order by hex.q, hex.r) as rs
      from public.hex
      where hex.map_id = state.map_id
    ) as whole
    cross join lateral fpb._ground(state, mover, whole.qs, whole.rs) as ground
  );
  crossings := array(select crossing from fpb._crossings(state, mover) as crossing);
  return query
  select
    here.label,
    there.label,
    leg.price,
    leg.zone,
    -- an enemy bars a step, not the ground
    leg.shut and (there.enemy is null or there.all_sea)
  from fpb._legs(state, mover, grounds, crossings) as leg
  inner join unnest(grounds) as here on here.q = leg.fq and here.r = leg.fr
  inner join unnest(grounds) as there on there.q = leg.tq and there.r = leg.tr;
end
$$;

comment on function fpb.march_legs(bigint, text, jsonb, jsonb) is
'Every step of the island with its price to a unit in halves, null where nobody has told it; shut where the ground is.';

create or replace function fpb.fronts(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns table (
  code text, attack integer, charges boolean, forced boolean, blocked_by text array, at text, defenders text array,
  defense integer, weakest integer, open boolean, airstrip boolean, barred text
)
language sql stable rows 10
as $$
  with state as (
    select found.* from positions.state(fronts.position_id, fronts.conditions, fronts.policy) as found
  ),
  phase as (
    select coalesce(state.conditions ->> 'phase', 'combat') as name from state
  ),
  target as (
    select
      unit.q,
      unit.r,
      unit.label,
      array_agg(unit.code order by unit.code) as codes,
      case when bool_and(unit.attributes ? 'defense') then sum((unit.attributes ->> 'defense')::integer)::integer end as defense,
      case when bool_and(unit.attributes ? 'defense') then min((unit.attributes ->> 'defense')::integer) end as weakest
    from state
    cross join phase
    cross join lateral fpb._units(row(state.*)::positions.state) as unit
    where unit.side = 'us'
      and unit.q is not null
      -- 8.0: one attack in a phase
      and not coalesce(unit.attributes -> 'hit' ? phase.name, false)
    group by unit.q, unit.r, unit.label
  )
  select
    unit.code,
    (unit.attributes ->> 'attack')::integer,
    -- 15.0: neither snipers nor mobile units
    unit.kind <> 'sniper' and coalesce(unit.attributes ->> 'mobility', 'leg') = 'leg',
    coalesce((unit.attributes ->> 'forced')::boolean, false),
    array(select jsonb_array_elements_text(coalesce(unit.attributes -> 'blocked_by', '[]'))),
    target.label,
    target.codes,
    target.defense,
    target.weakest,
    hex.terrain = 'clear' and not hex.features && array['village', 'reef'],
    'airstrip' = any(hex.features),
    -- 16.2: where ordinary attacks are never made
    case
      when hex.terrain in ('mountain', 'hill_jungle') then replace(hex.terrain, '_', ' ')
      when (hex.terrain in ('jungle', 'village') or 'village' = any(hex.features)) and exists (
        select
        from public.hexside
        where hexside.map_id = state.map_id
          and hexside.kind = 'river'
          and hexside.x = unit.q + target.q
          and hexside.y = unit.r + target.r
      ) and not fpb._road_crosses(state.map_id, unit.q + target.q, unit.r + target.r)
        then 'over a river into jungle or village'
    end
  from state
  cross join phase
  cross join lateral fpb._units(row(state.*)::positions.state) as unit
  inner join target on lattice.distance(unit.q, unit.r, target.q, target.r) = 1
  inner join public.hex on hex.map_id = state.map_id and hex.q = target.q and hex.r = target.r
  where unit.side = 'japan'
    and unit.q is not null
    -- 8.2, 8.3.1, 8.5: who has attacked, advanced or given way does not attack
    and not unit.attributes ?| array['attacked', 'advanced', 'displaced']
    and (phase.name <> 'mobile_combat' or unit.attributes ->> 'mobility' = 'mobile')
    -- 8.0: nobody attacks into prohibited terrain
    and not fpb._all_sea(hex.terrain, hex.features)
  order by unit.code, target.label collate "C"
$$;

comment on function fpb.fronts(bigint, jsonb, jsonb) is
'Every Japanese unit that may attack now beside every US hex that may be attacked: strengths as printed, what stands against it (16.2, 16.2.1).';
