-- needs: bob/control.sql, bob/costs.sql, bob/locations.sql, bob/stack.sql, bob/command.sql, bob/units.sql
-- A move in bob (Band of Brothers), step by step: 5.0 to 5.4, 20.3, 20.10, 43.6, 59.1, 59.5, 59.6.
--
-- What a hex costs is in bob/costs.sql. Here: who may move at all and how, where it must stop, where it may end.

create or replace function bob._permission_steps(state positions.state, piece bob.piece, mover bob.mover, cp boolean)
returns setof rulings.move_step
language sql stable rows 3
as $$
  select
    fact.rule,
    null,
    piece.label,
    fact.effect,
    fact.note,
    null,
    null::integer,
    null::integer,
    null
  from (
    values
    (piece.gun, '20.2', 'forbids', 'a Gun moves only when it is transported'),
    (piece.mounted, '21.1', 'forbids', 'a passenger moves with its Carrier, or dismounts'),
    (
      bob._flag(piece, 'used') and piece.attributes -> 'moving' is null,
      '4.2', 'forbids', 'a Used unit does not move'
    ),
    (bob._flag(piece, 'op_fire'), '4.3', 'forbids', 'a unit marked Op Fire does not move'),
    (
      mover.engaged and mover.japanese and (piece.infantry or piece.decoy),
      '5.1', 'forbids', 'a Japanese unit in an enemy''s hex is marked Used or Op Fire'
    ),
    (
      mover.engaged and mover.manner = 'retreat',
      '5.3', 'forbids', 'no Declared Retreat out of an enemy''s hex'
    ),
    (
      not mover.engaged and mover.manner = 'withdraw',
      '5.1', 'forbids', 'there is no enemy in its hex to withdraw from'
    ),
    (
      mover.manner in ('seishin', 'banzai') and piece.nation <> 'japan',
      '59.0', 'forbids', 'only Japanese Squads do that'
    ),
    (mover.manner in ('seishin', 'banzai') and piece.kind <> 'squad', '59.0', 'forbids', 'only Squads do that'),
    (
      mover.manner = 'seishin' and not bob._flag(piece, 'seishin'),
      '59.5', 'forbids', 'its counter has no S'
    ),
    (
      mover.manner = 'seishin' and mover.engaged,
      '59.5', 'forbids', 'it is in the hex of an enemy already'
    ),
    (
      mover.manner = 'seishin' and not piece.vehicle and exists (
        select from bob.command(state.position_id, piece.code, state.conditions, state.readings) as step
        where step.effect = 'out of command'
      ),
      '63.1', 'forbids', 'a Squad Out of Command cannot declare Seishin'
    ),
    (cp and mover.manner = 'banzai', '59.6', 'forbids', 'no Command Point adds to a Banzai Charge'),
    (cp and piece.vehicle, '20.0', 'forbids', 'no Command Point is used on a Vehicle'),
    (cp and bob._flag(piece, 'cp'), '3.0', 'forbids', 'it has had its Command Point this turn'),
    (
      cp and coalesce((bob._of_side(state, piece.side, 'cps'))::integer < 1, false),
      '3.0', 'forbids', 'its side has no Command Point left'
    ),
    (mover.manner = 'reverse' and not piece.vehicle, '20.3', 'forbids', 'only Vehicles go in reverse'),
    (mover.manner = 'trail' and not piece.vehicle, '54.4', 'forbids', 'only Vehicles use a Trail'),
    (piece.vehicle and not piece.attributes ? 'movement', '20.3', 'unknown', 'the movement points of ' || piece.code)
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function bob._permission_steps(positions.state, bob.piece, bob.mover, boolean) is
'Why a unit may not move at all, or not in this manner; no row where it may.';

create or replace function bob._end_steps(
  state positions.state, pieces bob.piece[], mover bob.mover, goal bob.ground
)
returns setof rulings.move_step
language sql stable rows 2
as $$
  select
    bar.rule,
    null,
    goal.label,
    case when bar.over > 0 and judged.now then 'forbids' else 'allows' end,
    bar.why,
    coalesce(bar.point, case when bar.over > 0 then 'bob-45' end),
    null::integer,
    null::integer,
    null
  from bob._stack_bars(
    bob._standing(pieces, mover.side, goal.q, goal.r, mover.location, mover.code) || mover.kind,
    mover.location,
    -- 20.10: of the enemies there only a Vehicle must beware
    mover.vehicle and bob._foes(pieces, mover.side, goal.q, goal.r, mover.location),
    state.readings
  ) as bar
  cross join lateral (
    -- bob-45: when a move ends, or only with the turn
    select
      case state.readings ->> 'bob-45'
        when 'b' then bar.rule <> '20.10'
        when 'c' then false
        else true
      end as now
  ) as judged
  -- 20.9: who Close Assaults goes back whence it came
  where not (mover.infantry and goal.enemy_vehicle and not goal.enemy)
    -- 20.10: Vehicles and Guns that were too many before it came are no fault of Infantry
    and not (mover.infantry and bar.rule = '20.10')
$$;

comment on function bob._end_steps(positions.state, bob.piece[], bob.mover, bob.ground) is
'Whether a mover may end its move in a hex with those who stand there (2.0, 20.10, bob-45).';

create or replace function bob._aim_steps(
  state positions.state, pieces bob.piece[], mover bob.mover, ends_at bob.ground
)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select
    '59.5',
    null,
    ends_at.label,
    'forbids',
    'Seishin leads into the hex of an enemy',
    null,
    null::integer,
    null::integer,
    null
  where mover.manner = 'seishin'
    and not ends_at.enemy
  union all
  -- 59.6: until the last required Charge is called
  select
    '59.6',
    null,
    ends_at.label,
    'forbids',
    'until the last Banzai Charge is called no Squad goes closer to its Rout Edge',
    null,
    null::integer,
    null::integer,
    null
  where mover.japanese
    and mover.kind = 'squad'
    and mover.manner not in ('rout', 'banzai')
    and jsonb_typeof(state.conditions -> 'banzai') = 'object'
    and (
      select coalesce(max(turn.n::integer), 0)
      from jsonb_array_elements_text(state.conditions -> 'banzai' -> 'turns') as turn (n)
    ) > (
      select coalesce(max(turn.n::integer), 0)
      from jsonb_array_elements_text(coalesce(state.conditions -> 'banzai' -> 'called', '[]')) as turn (n)
    )
    and bob._edge_distance(state, mover.side, ends_at.q, ends_at.r)
      < bob._edge_distance(state, mover.side, mover.q, mover.r)
$$;

comment on function bob._aim_steps(positions.state, bob.piece[], bob.mover, bob.ground) is
'Whether a move ends where its manner leads, and not nearer to the Rout Edge than a Charge to come allows (59.5, 59.6).';

drop type if exists bob.trek cascade;
create type bob.trek as (
  steps rulings.move_step array,
  legs bob.leg array,
  cost integer,
  known boolean,
  fits boolean,
  failed_at text
);

comment on type bob.trek is
'A way, walked: what it costs as far as it goes, and where it fails.';

create or replace function bob._charged(trek bob.trek, mover bob.mover, step rulings.move_step)
returns bob.trek
language plpgsql immutable
as $$
begin
  trek.steps := trek.steps || step;
  if step.effect = 'forbids' then
    trek.failed_at := step.at;
  elsif step.halves is null then
    trek.known := false;
    trek.fits := null;
  elsif trek.cost + step.halves > mover.halves then
    step.effect := 'forbids';
    step.note := 'it has not the points for it';
    step.halves := null;
    trek.steps := trek.steps || step;
    trek.failed_at := step.at;
  else
    trek.cost := trek.cost + step.halves;
  end if;
  return trek;
end
$$;

comment on function bob._charged(bob.trek, bob.mover, rulings.move_step) is
'A way with something that is paid for within a hex.';

create or replace function bob._walk(
  state positions.state, mover bob.mover, grounds bob.ground[], legs bob.leg[], path text[]
)
returns bob.trek
language plpgsql stable
as $$
declare
  trek bob.trek;
  here bob.ground;
  there bob.ground;
  leg bob.leg;
  entered integer := 0;
  bar rulings.move_step;
  bound boolean := false;
  halted boolean := false;
  faced integer := mover.facing;
  place text;
  -- 45.4: through a Gully one comes under its Bridge
  under boolean := mover.location = 'under';
begin
  trek.steps := '{}';
  trek.legs := '{}';
  trek.cost := mover.spent;
  trek.known := true;
  trek.fits := true;
  select * into here from unnest(grounds) as ground where ground.q = mover.q and ground.r = mover.r;
  if mover.location = 'upper' and mover.into_location = 'ground' then
    trek := bob._charged(trek, mover, bob._level_step(state, mover, here));
  end if;
  foreach place in array path || null::text loop
    -- 20.3: it turns where it is before it goes on, and at the end
    if trek.failed_at is null and mover.turns ? here.label and mover.facings ->> here.label is distinct from faced::text then
      trek := bob._charged(trek, mover, bob._turn_step(mover, here.label, faced));
      faced := (mover.facings ->> here.label)::integer;
    end if;
    exit when place is null or trek.failed_at is not null;
    select * into there from unnest(grounds) as ground where ground.label = place;
    leg := null;
    select * into leg from unnest(legs) as found
    where found.fq = here.q and found.fr = here.r and found.tq = there.q and found.tr = there.r;
    if leg.label is not null and mover.into_location = 'cave' and place = path[cardinality(path)] then
      leg := bob._cave_leg(state, mover, leg);
    end if;
    bar := null;
    bar.at := place;
    bar.effect := 'forbids';
    if leg.label is null then
      bar.rule := '5.0';
      bar.note := format('%s is not next to %s', place, here.label);
    elsif halted then
      -- a hex in which it had to stop lies behind
      bar.rule := case when here.wire and not here.enemy then '43.6' else '5.0' end;
      bar.note := format('it had to stop in %s', here.label);
    elsif entered > 0 and mover.wired then
      bar.rule := '43.6';
      bar.note := 'out of Wire it moves a single hex';
    elsif bob._bridged(here.terrain, here.features) and not under and there.terrain = 'gully'
      and not bob._bridged(there.terrain, there.features) then
      bar.rule := '45.4';
      bar.note := 'nobody moves between a Bridge and the Gully';
    elsif mover.most is not null and entered >= mover.most then
      bar.rule := '55.2';
      bar.note := 'in a deluge no unit moves more than two hexes';
    end if;
    if bar.note is not null then
      trek.steps := trek.steps || bar;
      trek.failed_at := place;
      return trek;
    end if;
    trek.steps := trek.steps || array(select step from bob._leg_steps(leg) as step);
    if leg.shut is not null then
      trek.failed_at := place;
      return trek;
    end if;
    if leg.whole and (entered > 0 or mover.spent > 0) then
      bar.rule := coalesce(leg.side_rule, '45.4');
      bar.note := 'it takes the whole allowance, of which something is spent';
      trek.steps := trek.steps || bar;
      trek.failed_at := place;
      return trek;
    end if;
    bound := bound or leg.bound;
    trek.known := trek.known and leg.price is not null;
    trek.cost := trek.cost + coalesce(leg.price, 0);
    if trek.cost > mover.halves then
      if bound then
        -- along a road it costs less, and nobody has told how much
        trek.fits := null;
      else
        bar.rule := '5.0';
        bar.note := format('it has not the points to enter %s', there.label);
        trek.cost := trek.cost - leg.price;
        trek.steps := trek.steps || bar;
        trek.failed_at := place;
        return trek;
      end if;
    end if;
    trek.legs := trek.legs || leg;
    halted := leg.stops;
    entered := entered + 1;
    under := bob._bridged(there.terrain, there.features) and here.terrain = 'gully'
      and (under or not bob._bridged(here.terrain, here.features));
    here := there;
  end loop;
  if trek.failed_at is null and mover.into_location = 'upper' then
    trek := bob._charged(trek, mover, bob._level_step(state, mover, here));
  end if;
  trek.known := trek.known and not bound;
  return trek;
end
$$;

comment on function bob._walk(positions.state, bob.mover, bob.ground[], bob.leg[], text[]) is
'A way hex by hex: where a mover must stop, turns or changes level, and where its points end (5.0, 20.3, 40.2, 43.4, 43.6, 55.2).';

create or replace function bob._mover_by(mover bob.mover, way text[], options jsonb)
returns bob.mover
language plpgsql immutable
as $$
declare
  faced integer := mover.facing;
  place text;
begin
  mover.into_location := options ->> 'into';
  mover.turns := coalesce(options -> 'turns', '{}');
  mover.read := options -> 'read';
  mover.facings := '{}';
  foreach place in array mover.label || way loop
    faced := coalesce((mover.turns ->> place)::integer, faced);
    mover.facings := mover.facings || jsonb_build_object(place, faced);
  end loop;
  return mover;
end
$$;

comment on function bob._mover_by(bob.mover, text[], jsonb) is
'A mover with what is said of its way: where it turns, in which location it ends, what somebody reads off the card.';

create or replace function bob._bars_to_change(state positions.state, mover bob.mover, moves boolean)
returns setof rulings.move_step
language sql stable rows 1
as $$
  select bar.rule, null, mover.label, 'forbids', bar.note, null, null::integer, null::integer, null
  from (
    values
    (
      mover.into_location = 'cave' and not moves, '43.4',
      'a Cave and what lies above it are not next to one another'
    ),
    (mover.into_location = 'ground' and mover.location = 'ground', '40.2', 'it is on the ground'),
    (mover.into_location = 'upper' and mover.location = 'upper' and not moves, '40.2', 'it is on the Upper Level')
  ) as bar (holds, rule, note)
  where bar.holds
$$;

comment on function bob._bars_to_change(positions.state, bob.mover, boolean) is
'Why a mover cannot change its location as it says (40.2, 43.4).';

create or replace function bob.move(
  position_id bigint,
  unit text,
  path text[],
  options jsonb default '{}',
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 10
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(move.position_id) as piece);
  piece bob.piece;
  mover bob.mover;
  cp boolean := coalesce((move.options ->> 'cp')::boolean, false);
  grounds bob.ground[];
  goal bob.ground;
  trek bob.trek;
  steps rulings.move_step[];
  way text[] := move.path;
  verdict rulings.move_step;
  off_board boolean := coalesce((move.options ->> 'exit')::boolean, false);
begin
  select * into state from positions.state(move.position_id, move.conditions, move.policy);
  mover := bob._mover(
    state, pieces, move.unit, move.options ->> 'as', cp, (move.options ->> 'off_path')::boolean
  );
  select * into piece from unnest(pieces) as found where found.code = mover.code;
  if way[1] = mover.label then
    way := way[2:];
  end if;
  mover := bob._mover_by(mover, way, move.options);
  grounds := array(
    select ground
    from (
      select array_agg(hex.q) as qs, array_agg(hex.r) as rs
      from public.hex
      where hex.map_id = state.map_id and (hex.label = any(way) or hex.label = mover.label)
    ) as named
    cross join lateral bob._ground(state, pieces, mover.side, named.qs, named.rs) as ground
  );
  steps := array(
    select step from bob._permission_steps(state, piece, mover, cp) as step
    union all
    select step from bob._bonus_steps(piece, mover.manner, cp, state.conditions) as step
    union all
    select step from bob._bars_to_change(state, mover, cardinality(way) > 0) as step
  );
  trek := bob._walk(
    state, mover, grounds, array(select leg from bob._legs(state, mover, grounds) as leg), way
  );
  steps := steps || trek.steps;
  select * into goal from unnest(grounds) as ground where ground.label = coalesce(way[cardinality(way)], mover.label);
  if trek.failed_at is null and off_board then
    -- 18.0: leaving the board
    if not exists (
      select from lattice.neighbours(goal.q, goal.r) as beside
      where not exists (
        select from public.hex where hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
      )
    ) then
      steps := steps || row('18.0', null, goal.label, 'forbids', 'this hex is not at the edge of the map', null, null, null, null)::rulings.move_step;
      trek.failed_at := goal.label;
    elsif trek.cost + 2 > mover.halves then
      steps := steps || row('18.0', null, goal.label, 'forbids', 'it has no point left to leave the map', null, null, null, null)::rulings.move_step;
      trek.failed_at := goal.label;
    else
      trek.cost := trek.cost + 2;
      steps := steps || row('18.0', null, goal.label, 'cost', 'it leaves the map', null, 2, null, null)::rulings.move_step;
    end if;
  elsif trek.failed_at is null then
    -- where it ends it is on the ground, unless it says otherwise or keeps to the Upper Levels
    mover.location := coalesce(
      mover.into_location, case when mover.location = 'cave' and cardinality(way) > 0 then 'ground' else mover.location end
    );
    steps := steps || array(
      select step from bob._end_steps(state, pieces, mover, goal) as step
      union all
      select step from bob._aim_steps(state, pieces, mover, goal) as step
      union all
      select step from bob._charge_steps(state, pieces, mover, way) as step
      union all
      select step from bob._retreat_steps(state, pieces, mover, way) as step
    );
  end if;
  return query select * from unnest(steps);
  verdict.rule := '5.0';
  verdict.halves := case when trek.known then trek.cost - mover.spent end;
  verdict.remaining := case when trek.known then mover.halves - trek.cost end;
  if exists (select from unnest(steps) as step where step.effect = 'forbids') then
    verdict.at := coalesce(trek.failed_at, (select step.at from unnest(steps) as step where step.effect = 'forbids' limit 1));
    verdict.effect := 'illegal';
    verdict.note := (
      select string_agg(distinct step.note, '; ') from unnest(steps) as step where step.effect = 'forbids'
    );
  elsif trek.fits is null or mover.halves is null
    or exists (select from unnest(trek.legs) as leg where leg.price is null) then
    verdict.at := goal.label;
    verdict.effect := 'unknown';
    verdict.note := 'what the Player Aid Card alone tells would decide it';
  else
    verdict.at := case
      when off_board then null
      -- 20.9: after a Close Assault it is back in the hex before
      when mover.infantry and goal.enemy_vehicle and not goal.enemy then coalesce(way[cardinality(way) - 1], mover.label)
      else goal.label
    end;
    verdict.effect := 'legal';
    verdict.note := case when off_board then 'it leaves the map' else 'the points suffice' end;
  end if;
  return next verdict;
end
$$;

comment on function bob.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'What a way costs a unit and whether it may go it: a row for every rule that speaks, the verdict last.';

create or replace function bob.comes_in(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 1
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(comes_in.position_id) as piece);
  mover bob.mover;
  here bob.ground;
  costs jsonb;
  paid record;
  least record;
begin
  select * into state from positions.state(comes_in.position_id, comes_in.conditions, comes_in.policy);
  mover := bob._mover(state, pieces, comes_in.unit, null, false, false);
  costs := bob._card(case when mover.vehicle then 'vehicle' else 'infantry' end, null);
  select * into here from bob._ground(state, pieces, mover.side, array[mover.q], array[mover.r]);
  -- no side is crossed and nothing climbed: off the board there is no ground
  select * into paid
  from bob._base(mover, costs, bob._entry(costs, mover, state.conditions, here.terrain, here.features, null), here);
  select * into least from bob._leasts(mover, here, here, state.conditions);
  return next row(
    case when least.halves > paid.halves then least.rule else paid.rule end, null, here.label,
    case when paid.halves is null then 'unknown' else 'cost' end,
    case
      when paid.halves is null then 'pac_terrain ' || here.terrain
      when least.halves > paid.halves then least.note
      else 'it comes in from off the board: ' || replace(here.terrain, '_', ' ')
    end,
    null, case when paid.halves is not null then greatest(paid.halves, least.halves) end,
    case when paid.halves is not null then mover.halves - greatest(paid.halves, least.halves) end, null
  )::rulings.move_step;
end
$$;

comment on function bob.comes_in(bigint, text, jsonb, jsonb) is
'What the hex costs in which a unit has just come in from off the board (5.0, 16.2); unknown where the card alone tells.';
