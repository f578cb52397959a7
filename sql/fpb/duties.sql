-- needs: fpb/landing.sql, fpb/placement.sql
-- What must still be done before a phase of fpb (Forgotten Pacific Battles) can end: 12.0, 12.1, 18.1.

create or replace function fpb.landing_sites(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns table (label text)
language sql stable rows 20
as $$
  select hex.label
  from public.position
  inner join public.hex on hex.map_id = position.map_id
  cross join lateral fpb.assault_boats(
    position.id, array[hex.label], landing_sites.conditions, landing_sites.policy
  ) as verdict
  where position.id = landing_sites.position_id
    and ('coast' = any(hex.features) or 'reef' = any(hex.features) or hex.terrain = 'reef')
    and (verdict.facts ->> 'allowed')::boolean
  order by hex.label collate "C"
$$;

comment on function fpb.landing_sites(bigint, jsonb, jsonb) is
'Every hex into which an assault boat marker may still be placed now (12.0).';

create or replace function fpb.duties(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with game as (
    select
      row(found.*)::positions.state as state,
      found.conditions ->> 'phase' as phase,
      found.conditions ->> 'active' as active,
      (found.conditions ->> 'turn')::integer as turn
    from positions.state(duties.position_id, duties.conditions, duties.policy) as found
  ),
  unit as (
    select game.state, game.phase, game.active, game.turn, counter.*
    from game
    cross join lateral fpb._units(game.state) as counter
  ),
  boat as (
    select shore.*
    from game
    cross join lateral (
      select array_agg(hex.label order by hex.label collate "C") as labels
      from public.marker
      inner join public.hex on hex.map_id = (game.state).map_id and hex.q = marker.q and hex.r = marker.r
      where marker.position_id = (game.state).position_id and marker.kind = 'assault_boat'
    ) as lying
    cross join lateral fpb._shore(game.state, lying.labels) as shore
  )
  select '18.1', null, null, 'must be placed', 'the Japanese are set up before the first phase', null, unit.code, null::integer, null::jsonb
  from unit
  where coalesce(unit.phase, 'support_fire') = 'support_fire'
    and coalesce(unit.turn, 1) = 1
    and unit.side = 'japan'
    and unit.q is null
    and unit.attributes ->> 'status' is distinct from 'eliminated'
    and coalesce(unit.attributes ->> 'island' = (unit.state).conditions ->> 'island', true)
  union all
  select '12.0', null, null, 'must be placed', 'one assault boat marker at the least', null, null, null::integer, null::jsonb
  from game
  where game.phase = 'movement'
    and game.active = 'us'
    and game.turn = 1
    and not exists (
      select from public.marker
      where marker.position_id = (game.state).position_id and marker.kind in ('assault_boat', 'landing_beach')
    )
    and exists (select from fpb.landing_sites(duties.position_id, duties.conditions, duties.policy))
  union all
  select '12.0', null, boat.label, 'must be assaulted', 'a unit waits in the sea for every boat in a held hex', null, null, null::integer, null::jsonb
  from game
  cross join boat
  where game.phase = 'movement'
    and game.active = 'us'
    and game.turn = 1
    and fpb._assaulted(game.state, row(boat.*)::fpb.shore)
    and exists (select from fpb._berths(game.state, row(boat.*)::fpb.shore))
    and not exists (select from unit where unit.attributes ->> 'assaulting' = boat.label and unit.q is not null)
    and exists (
      select
      from unit
      cross join lateral fpb.landing(
        duties.position_id, unit.code, boat.label, null, false, duties.conditions, duties.policy
      ) as verdict
      where unit.side = 'us' and unit.q is null and (verdict.facts ->> 'allowed')::boolean
    )
  union all
  select '12.1', null, unit.label, 'must attack', format('it was placed to assault %s', unit.attributes ->> 'assaulting'), null, unit.code, null::integer, null::jsonb
  from unit
  inner join boat on boat.label = unit.attributes ->> 'assaulting'
  where unit.phase = 'combat'
    and unit.active = 'us'
    and unit.side = 'us'
    and unit.q is not null
    and unit.attributes ? 'landed'
    and not unit.attributes ? 'attacked'
    and not exists (
      select from unit as defender
      where defender.side = 'japan' and defender.q = boat.q and defender.r = boat.r
        and coalesce(defender.attributes -> 'hit' ? 'combat', false)
    )
$$;

comment on function fpb.duties(bigint, jsonb, jsonb) is
'What must still be done before the phase can end: set-up, boats, units for them, their assaults (12.0, 12.1, 18.1).';
