-- needs: bob/shots.sql
-- What stands against a shot in bob (Band of Brothers): 4.2, 5.2, 6.0, 6.1, 9.0, 10.0, 10.1, 14.0, 20.9, 21.4, 31.0, 37.0, 43.3, 47.4, 50.2, 52.0, 61.1.
--
-- Every rule that forbids it is a row; the first of them is what the answer tells.

create or replace function bob._state_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, (shot.firer).label, 'forbids', entry.note, entry.point, (shot.firer).code, null::integer, null::jsonb
  from (
    select
      shot.firer as firer,
      bob._flag(shot.firer, 'used') as used,
      bob._flag(shot.firer, 'op_fire') as marked,
      state.conditions ->> 'phase' as phase
  ) as fact
  cross join lateral (
    values
    (1, (fact.firer).kind in ('decoy', 'satt'), '15.0', format('a %s does not fire', (fact.firer).kind), null),
    (2, fact.phase in ('rout', 'melee', 'recovery'), '4.0', 'units fire in the Operations Phase', null),
    (
      3, shot.manner in ('fire', 'assault_fire') and state.conditions ->> 'active' <> (fact.firer).side,
      '4.0', 'it is not the Operations Range of its side', null
    ),
    (4, shot.manner in ('fire', 'assault_fire') and fact.used, '4.2', 'it is Used', null),
    (5, shot.manner = 'fire' and fact.marked, '4.3', 'it is marked Op Fire, and waits for a mover', null),
    (6, shot.manner = 'op_fire' and fact.used, '9.0', 'it is Used, and may only Final Op Fire', null),
    (7, shot.manner = 'final_op_fire' and not fact.used, '10.0', 'only a Used unit Final Op Fires', null),
    (8, shot.manner = 'muzzle_flash' and (fact.used or fact.marked), '50.2', 'only a unit that is neither Used nor marked Op Fire answers a flash', null),
    (9, shot.manner = 'muzzle_flash' and not state.conditions ? 'night', '50.2', 'flashes are answered at night', null),
    (
      10, shot.manner = 'muzzle_flash' and (shot.aim).away <= (state.conditions -> 'night' ->> 'visibility')::integer,
      '50.2', 'the flash is within its Visibility Range', null
    ),
    (
      11, shot.manner = 'muzzle_flash' and state.conditions ->> 'weather' = 'monsoon',
      '55.2', 'in the deluge no flash is answered', null
    ),
    (12, (fact.firer).kind = 'wt' and shot.manner = 'assault_fire' and not bob._rides_and_fires(state, fact.firer), '2.0', 'a WT on foot does not Assault Fire', null),
    (13, shot.manner = 'assault_fire' and bob._retreats(fact.firer), '5.3', 'who retreats does not Assault Fire', null),
    (14, shot.manner = 'assault_fire' and bob._charging(state, fact.firer), '59.6', 'who charges does not Assault Fire', null),
    (15, shot.manner = 'assault_fire' and (fact.firer).kind = 'gun', '20.2', 'a Gun does not move', null),
    (16, bob._mounted(fact.firer) and not bob._rides_and_fires(state, fact.firer), '21.4', 'it may not fire from what it rides in', null),
    (
      17,
      exists (
        select from bob._counters(state) as enemy
        where enemy.side <> (fact.firer).side and bob._together(enemy, fact.firer) and not bob._mounted(enemy)
      ),
      '6.1', 'an enemy is in its location', null
    ),
    (18, bob._flag(fact.firer, 'ammo_out'), '34.0', 'it has nothing left to fire', null)
  ) as entry (n, speaks, rule, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._state_forbids(positions.state, bob.shot) is
'What about the firer stands against its fire: phase, counters on it, who is with it, what it rides in.';

create or replace function bob._rides_and_fires(state positions.state, unit positions.counter)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select exists (
      select
      from bob._counters(state) as ridden
      where ridden.code = unit.attributes ->> 'in'
        and ridden.kind = 'carrier'
        and not ridden.attributes ? 'landing_craft'
        and not ridden.attributes ? 'unarmored'
        and (
          bob._flag(unit, 'panzer_grenadier') or bob._flag(unit, 'ss') or bob._flag(unit, 'fires_mounted') or unit.kind = 'wt'
        )
        and not (bob._mortar(unit) and unit.attributes ? 'moving')
    )
  );
end
$$;

comment on function bob._rides_and_fires(positions.state, positions.counter) is
'Whether a unit may fire from the Carrier that it is in (21.4, 22.0, 23.0).';

create or replace function bob._ground_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, (shot.firer).label, 'forbids', entry.note, entry.point, (shot.firer).code, null::integer, null::jsonb
  from (
    select
      shot.arm = 'mortar' as mortar,
      bob._flag(shot.firer, 'grenade_discharger') and (shot.firer).kind = 'squad' as discharger,
      (shot.firer).kind = 'wt' and not bob._mounted(shot.firer) as team,
      state.readings ->> 'bob-6' = 'b' as strict
  ) as fact
  cross join lateral (
    values
    (1, fact.team and shot.ground = 'swamp', '52.0', 'WTs do not fire from a swamp', null),
    (2, fact.team and shot.ground = 'surf', '45.6', 'WTs do not fire from Surf', null),
    (3, fact.team and shot.ground = 'river/shallow', '45.1', 'WTs do not fire from a river', null),
    (
      4, fact.mortar and shot.ground in ('stone_building', 'wooden_building'),
      '31.0', 'mortars do not fire from a building', case when fact.discharger then 'bob-6' end
    ),
    (5, fact.mortar and bob._pillbox(shot), '43.3', 'mortars and grenade dischargers do not fire from a Pillbox', null),
    (6, fact.mortar and not fact.team and shot.ground = 'swamp' and (not fact.discharger or fact.strict), '31.0', 'mortars do not fire from a swamp', case when fact.discharger then 'bob-6' end),
    (7, fact.mortar and bob._flag(shot.firer, 'in_cave') and (not fact.discharger or fact.strict), '43.4', 'mortars do not fire from a cave', case when fact.discharger then 'bob-6' end),
    (
      8,
      fact.mortar and not fact.discharger and shot.ground = 'jungle' and not bob._japanese(shot.firer)
      and not bob._flag(shot.firer, 'set_up_here'),
      '31.0', 'it moved into this Jungle hex, and is not Japanese', null
    ),
    (9, shot.directed and fact.discharger, '59.3', 'a grenade discharger has no Directed Fire', null),
    (
      10, shot.directed and not fact.mortar, '31.1', 'only mortars have Directed Fire', null
    ),
    (
      11, shot.arm in ('v_gun', 'canister') and (shot.aim).away = 1 and bob._cliff_between(state, shot.aim),
      '47.4', 'Guns and Vehicles do not fire over a cliff into the next hex', 'bob-26'
    )
  ) as entry (n, speaks, rule, note, point)
  where entry.speaks
  union all
  select '59.3', null, (shot.firer).label, 'allows', 'a grenade discharger may fire from here', 'bob-6', (shot.firer).code, null::integer, null::jsonb
  where bob._flag(shot.firer, 'grenade_discharger') and state.readings ->> 'bob-6' = 'a'
    and (shot.ground = 'swamp' or bob._flag(shot.firer, 'in_cave'))
$$;

comment on function bob._ground_forbids(positions.state, bob.shot) is
'What about the firer''s ground stands against its fire (31.0, 43.3, 43.4, 45.1, 45.6, 47.4, 52.0, bob-6).';

create or replace function bob._cliff_between(state positions.state, aim bob.aim)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return exists (
    select from public.hexside
    where hexside.map_id = state.map_id and hexside.kind in ('cliff', 'escarpment')
      and hexside.x = (aim.start).q + (aim.target).q and hexside.y = (aim.start).r + (aim.target).r
  );
end
$$;

comment on function bob._cliff_between(positions.state, bob.aim) is
'Whether a cliff lies between two neighbouring hexes (47.4, 54.3).';

create or replace function bob._range_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, (shot.aim).target.label, entry.effect, entry.note, entry.point, (shot.firer).code, null::integer, null::jsonb
  from (
    values
    (1, (shot.aim).away < shot.near, '31.0', 'forbids', format('nearer than its least range of %s', shot.near), null),
    (
      2, (shot.aim).away > shot.limit_,
      case
        when shot.arm = 'flame' then '34.0' when shot.arm = 'canister' then '37.0'
        when state.conditions ->> 'weather' = 'monsoon' then '55.2'
        when state.conditions ? 'night' then '50.2'
        when shot.arm = 'mortar' then '31.0' else '6.0'
      end,
      'forbids', format('%s hexes away: it fires at most %s', (shot.aim).away, shot.limit_), null
    ),
    (
      3, shot.far is null and shot.arm = 'infantry' and not (shot.firer).attributes ? 'range',
      '2.1', 'unknown', 'counter', null
    ),
    (
      4, shot.front is false and not bob._held_fast(state, shot),
      case when (shot.firer).kind in ('gun', 'vehicle', 'carrier') then '20.4' else '6.0' end,
      'forbids', 'the target is not in front; it may turn as it fires',
      case
        when (shot.firer).kind in ('gun', 'vehicle', 'carrier') then 'bob-35'
        when bob._pillbox(shot) then 'bob-10'
        when bob._ahead(shot.facing, (shot.aim).target.q - (shot.firer).q, (shot.aim).target.r - (shot.firer).r) = 0 then 'bob-34'
      end
    ),
    (
      5, shot.front is null, '2.2', 'unknown', 'whether the target is in front: the figure is not in the text', 'bob-34'
    ),
    (
      6, shot.turned and shot.manner = 'final_op_fire' and ((shot.firer).kind = 'wt' or ((shot.firer).kind = 'squad' and bob._japanese(shot.firer))),
      '10.1', 'forbids', 'WTs and Japanese Squads do not turn to Final Op Fire', case when bob._pillbox(shot) then 'bob-10' end
    ),
    (
      7, (shot.turned or shot.front is false) and bob._held_fast(state, shot),
      case when bob._pillbox(shot) then '43.3' else '40.0' end, 'forbids',
      case when bob._pillbox(shot) then 'a Gun does not turn in a Pillbox or Bunker to fire' else 'a Gun does not turn in a building' end,
      case when bob._pillbox(shot) then 'bob-10' end
    ),
    (
      8, shot.turned and shot.manner = 'final_op_fire' and (shot.firer).kind in ('gun', 'vehicle', 'carrier') and not shot.at_vehicle,
      '20.7', 'forbids', 'at infantry it Final Op Fires within its arc alone', null
    ),
    (
      9,
      bob._pillbox(shot) and (shot.firer).kind in ('squad', 'wt') and state.readings ->> 'bob-10' = 'a' and shot.facing is not null
      and bob._in_force(state, 'facing')
      and not bob._is_front(shot.facing, (shot.aim).target.q - (shot.firer).q, (shot.aim).target.r - (shot.firer).r, 'a'),
      '43.3', 'allows', 'out of a Pillbox it fires in every direction', 'bob-10'
    ),
    (
      10,
      (shot.firer).kind in ('gun', 'vehicle', 'carrier') and shot.front and shot.facing is not null and state.readings ->> 'bob-35' = 'a'
      and not bob._in_arc(shot.facing, (shot.aim).target.q - (shot.firer).q, (shot.aim).target.r - (shot.firer).r, 'b'),
      '20.4', 'allows', 'toward the edge of its arc', 'bob-35'
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._range_forbids(positions.state, bob.shot) is
'Whether the target is in range and in front of the firer (6.0, 10.1, 20.4, 20.7, 31.0, 40.0, 43.3, bob-10, bob-34, bob-35).';

create or replace function bob._held_fast(state positions.state, shot bob.shot)
returns boolean
language sql immutable parallel safe
return (shot.firer).kind = 'gun'
and (bob._pillbox(shot) or (shot.ground in ('stone_building', 'wooden_building') and shot.works is distinct from 'fortified'));

comment on function bob._held_fast(positions.state, bob.shot) is
'Whether a Gun cannot turn where it is to fire (40.0, 43.3, 43.5).';

create or replace function bob._mover_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, (shot.aim).target.label, entry.effect, entry.note, null, (shot.firer).code, null::integer, null::jsonb
  from (
    select
      shot.manner = 'final_op_fire' as final,
      coalesce(
        (
          select max((one.attributes -> 'moving' ->> 'hexes')::integer)
          from unnest(case when shot.at_vehicle then array[shot.vehicle] else shot.targets end) as one
          where one.code = any(shot.movers)
        ), 0
      ) as hexes,
      exists (
        select from unnest(case when shot.at_vehicle then array[shot.vehicle] else shot.targets end) as one
        where one.attributes -> 'moving' -> 'fired_by' ? (shot.firer).code
      ) as again,
      coalesce((shot.firer).attributes -> 'sustained', '[]') as sustained
  ) as fact
  cross join lateral (
    values
    (1, cardinality(shot.movers) = 0, '9.0', 'forbids', 'nobody moves in the target hex'),
    (2, shot.assumed, '9.0', 'assumed', 'the target of Op Fire is taken to be moving there'),
    (
      3, fact.final and not (shot.aim).adjacent and shot.cp is distinct from 'range' and not fact.sustained ? (shot.aim).target.label,
      '10.0', 'forbids', 'Final Op Fire is at a unit that moved adjacent, or for a CP within Range'
    ),
    (
      4, fact.final and shot.cp = 'range' and (shot.aim).away > shot.far,
      '10.0', 'forbids', 'for a CP it fires within its normal Range'
    ),
    (
      5, fact.final and shot.cp = 'range' and (shot.firer).kind in ('gun', 'vehicle', 'carrier'),
      '20.7', 'forbids', 'no CP lets a Gun or Vehicle Final Op Fire farther'
    ),
    (
      6, fact.final and jsonb_array_length(fact.sustained) > 0 and not fact.sustained ? (shot.aim).target.label,
      '61.1', 'forbids', 'it sustains fire at other hexes'
    ),
    (7, fact.again, '10.0', 'forbids', 'it has fired at this unit in this hex'),
    (8, shot.directed and fact.hexes = 1, '31.1', 'forbids', 'Directed Fire is not at a mover in its first hex')
  ) as entry (n, speaks, rule, effect, note)
  where entry.speaks and shot.manner in ('op_fire', 'final_op_fire')
  order by entry.n
$$;

comment on function bob._mover_forbids(positions.state, bob.shot) is
'What stands against Op Fire and Final Op Fire at a mover (9.0, 10.0, 20.7, 31.1, 61.1).';

create or replace function bob._target_forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.rule, null, (shot.aim).target.label, 'forbids', entry.note, null, (shot.firer).code, null::integer, null::jsonb
  from (
    values
    (
      1,
      exists (
        select from bob._counters(state) as friend
        where friend.side = (shot.firer).side and friend.q = (shot.aim).target.q and friend.r = (shot.aim).target.r
          and bob._storey(friend) = shot.storey and bob._soft(friend) and not bob._mounted(friend) and friend.id <> (shot.firer).id
      ),
      '6.1', 'unmounted friends are in the target location'
    ),
    (2, cardinality(shot.targets) = 0 and not shot.at_vehicle, '6.1', 'there is no enemy to fire at'),
    (
      3,
      shot.at_vehicle and shot.arm in ('infantry', 'mortar')
      and not (shot.vehicle).attributes ? 'unarmored'
      and not coalesce((shot.vehicle).attributes ? 'rear_casualty' and bob._aspect(((shot.vehicle).attributes ->> 'facing')::integer, (shot.firer).q - (shot.vehicle).q, (shot.firer).r - (shot.vehicle).r) = 'rear', false),
      '20.9', 'small arms do nothing to this Vehicle from here'
    ),
    (4, shot.at_vehicle and shot.arm = 'canister', '37.0', 'canister does nothing to Vehicles'),
    (
      5,
      not shot.at_vehicle and (shot.arm = 'canister' or (shot.firer).kind in ('gun', 'vehicle', 'carrier'))
      and cardinality(shot.targets) > 0 and (select bool_and(bob._mounted(one)) from unnest(shot.targets) as one),
      case shot.arm when 'canister' then '37.0' else '21.5' end, 'it cannot fire at passengers'
    ),
    (6, shot.arm = 'flame' and not (shot.firer).attributes ? 'flame', '34.0', 'it has no flamethrower'),
    (7, shot.arm = 'canister' and not (shot.firer).attributes ? 'canister', '37.0', 'it has no canister'),
    (8, (shot.firer).q = (shot.aim).target.q and (shot.firer).r = (shot.aim).target.r and not (shot.aim).adjacent, '20.4', 'nobody fires within its own location'),
    (
      9, (shot.aim).away = 1 and (shot.firer).q = (shot.aim).target.q and (shot.firer).r = (shot.aim).target.r and (shot.firer).kind in ('gun', 'vehicle', 'carrier'),
      '40.2', 'Guns and Vehicles do not fire at another level of their hex'
    )
  ) as entry (n, speaks, rule, note)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._target_forbids(positions.state, bob.shot) is
'What about the target stands against a shot (6.1, 20.4, 20.9, 21.5, 34.0, 37.0, 40.2).';

create or replace function bob._spotting_hex(state positions.state, shot bob.shot)
returns text
language sql stable
as $$
  -- 31.1: next to the mortar, nobody's enemy in it, open to infantry, and it sees the target
  select hex.label
  from lattice.neighbours((shot.firer).q, (shot.firer).r) as beside
  inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  where bob._ground(state, hex.q, hex.r) not in ('river', 'canal', 'ocean')
    and not bob._cliff_between(state, row((shot.aim).start, (select place from bob._end(state.position_id, 'hex:' || hex.label) as place), 1, true, null, null, null, null, null, null, null, null, null)::bob.aim)
    and not exists (
      select from bob._counters(state) as enemy where enemy.side <> (shot.firer).side and enemy.q = hex.q and enemy.r = hex.r
    )
    and exists (
      select
      from bob.los(
        state.position_id, 'hex:' || hex.label,
        case when cardinality(shot.targets) > 0 then bob._place_name(shot.targets[1]) else 'hex:' || (shot.aim).target.label end,
        state.conditions, state.readings
      ) as step
      where step.effect = 'visible'
    )
  order by beside.direction
  limit 1
$$;

comment on function bob._spotting_hex(positions.state, bob.shot) is
'A hex beside a mortar from which its fire can be directed (31.1).';

create or replace function bob._sight_steps(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  spot text;
  flare boolean;
begin
  if shot.directed then
    spot := bob._spotting_hex(state, shot);
    return next row(
      '31.1', null, coalesce(spot, (shot.firer).label), case when spot is null then 'forbids' else 'spots' end,
      case when spot is null then 'no hex beside the mortar serves to spot from' else 'the fire is directed from here' end,
      null, (shot.firer).code, null, null
    )::rulings.ledger_step;
    return;
  end if;
  -- 50.2: a flash is seen however dark it is
  if (shot.aim).visible or (shot.manner = 'muzzle_flash' and (shot.aim).dark) then
    return;
  end if;
  flare := bob._flare(state, shot) and (shot.aim).dark;
  return next row(
    case when flare then '43.6' when (shot.aim).dark then '50.2' else '14.0' end, null, (shot.aim).target.label,
    case when flare then 'lit' when (shot.aim).visible is null then 'unknown' when (shot.aim).dark then 'forbids' else 'blocked' end,
    case
      when flare then 'a Trip Flare shows the mover'
      when (shot.aim).visible is null then 'whether the target is seen'
      when (shot.aim).dark then 'the target is beyond its Visibility Range and not illuminated'
      else 'the line of sight is blocked'
    end,
    null, (shot.firer).code, null, null
  )::rulings.ledger_step;
end
$$;

comment on function bob._sight_steps(positions.state, bob.shot) is
'Whether the firer sees its target, or a spotter does (14.0, 31.1, 43.6, 50.2).';

create or replace function bob._flare(state positions.state, shot bob.shot)
returns boolean
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return shot.manner = 'op_fire' and cardinality(shot.movers) > 0 and exists (
    select from public.marker
    where marker.position_id = state.position_id and marker.kind = 'wire'
      and marker.q = (shot.aim).target.q and marker.r = (shot.aim).target.r
      and not coalesce((marker.attributes ->> 'flare_used')::boolean, false)
  ) and state.conditions ->> 'weather' is distinct from 'monsoon';
end
$$;

comment on function bob._flare(positions.state, bob.shot) is
'Whether a Trip Flare goes up for a mover in Wire (43.6).';

create or replace function bob._forbids(state positions.state, shot bob.shot)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select * from bob._state_forbids(state, shot)
  union all
  select * from bob._ground_forbids(state, shot)
  union all
  select * from bob._target_forbids(state, shot)
  union all
  select * from bob._mover_forbids(state, shot)
  union all
  select * from bob._range_forbids(state, shot)
  union all
  select step.*
  from bob._point_forbids(state, shot.firer, shot.cp) as step
  where shot.cp is not null
  union all
  select * from bob._sight_steps(state, shot)
$$;

comment on function bob._forbids(positions.state, bob.shot) is
'All that stands against a shot, or would decide about it, a row each.';

create or replace function bob.sustains(
  position_id bigint, by text, at text, beside text, facing integer default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shot bob.shot;
  target bob.sight_end;
begin
  select * into state from positions.state(position_id, conditions, policy);
  target := (bob._shot(state, by, at, 'fire', null, facing, null, '{}')).aim.target;
  shot := bob._shot(state, by, beside, 'fire', null, facing, null, '{}');
  return query
  select '61.1', null, (shot.aim).target.label, 'forbids', fact.why, null, by, null::integer, null::jsonb
  from (
    values
    (lattice.distance(target.q, target.r, (shot.aim).target.q, (shot.aim).target.r) <> 1, 'the second hex is next to the target'),
    ((shot.aim).away > shot.far, 'the second hex is within normal range'),
    (shot.front is false, 'the second hex is to the front'),
    (exists (select from bob._sight_steps(state, shot) as step where step.effect in ('blocked', 'forbids')), 'the second hex is in sight')
  ) as fact (speaks, why)
  where fact.speaks;
end
$$;

comment on function bob.sustains(bigint, text, text, text, integer, jsonb, jsonb) is
'Why an MG cannot keep a second hex under fire, a row each; none where it can (61.1).';
