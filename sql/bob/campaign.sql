-- needs: bob/reach.sql, bob/rout.sql, positions/state.sql, rulings/step.sql
-- Fatigue and Loss Recovery of bob (Band of Brothers): 64.1, 64.2, 65.1, 65.2, bob-39.

create or replace function bob.fatigue(
  position_id bigint,
  company text,
  losses jsonb,
  hub_flips integer,
  recoveries integer,
  understrength boolean,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
as $$
declare
  state positions.state;
  had integer;
  rate integer := case when fatigue.understrength then 2 else 1 end;
  steps rulings.ledger_step[];
  total integer;
  bounds jsonb;
  level integer;
begin
  select * into state from positions.state(fatigue.position_id, fatigue.conditions, fatigue.policy);
  select coalesce(
    (position.tracks -> 'companies' -> fatigue.company ->> 'fatigue')::integer,
    (state.conditions -> 'fatigue' ->> fatigue.company)::integer,
    0
  ) into had
  from public.position where position.id = fatigue.position_id;
  steps := array(
    select
      row('64.1', null, null, 'adds', fact.note, fact.point, fatigue.company, 2 * fact.value * rate, null)::rulings.ledger_step
    from (
      values
      (1, 4 * coalesce((fatigue.losses ->> 'full_eliminated')::integer, 0), 'full-strength units eliminated', null),
      (2, 2 * coalesce((fatigue.losses ->> 'reduced')::integer, 0), 'units Reduced', null),
      (3, 2 * coalesce((fatigue.losses ->> 'reduced_eliminated')::integer, 0), 'Reduced units eliminated', null),
      (4, 2 * fatigue.hub_flips, 'the Hub turned to its Fresh side', null),
      (
        5, fatigue.recoveries * case when state.readings ->> 'bob-39' = 'b' then 2 else 1 end,
        'Recovery Phases as the Attacker', case when fatigue.recoveries > 0 then 'bob-39' end
      )
    ) as fact (n, value, note, point)
    where fact.value <> 0
    order by fact.n
  );
  if had > 0 then
    return next row('64.1', null, null, 'adds', 'what it had', null, fatigue.company, 2 * had, null)::rulings.ledger_step;
  end if;
  return query select * from unnest(steps);
  if fatigue.understrength then
    return next row(
      '64.1', null, null, 'doubles', 'it began with less than half its Squads', null, fatigue.company, null, null
    )::rulings.ledger_step;
  end if;
  total := had + coalesce((select sum(step.halves) / 2 from unnest(steps) as step), 0);
  bounds := state.conditions -> 'thresholds';
  if jsonb_typeof(bounds) = 'object' then
    bounds := bounds -> fatigue.company;
  end if;
  if bounds is null then
    return next row(
      '64.2', null, null, 'unknown', 'the thresholds of Fatigue', null, fatigue.company, null, null
    )::rulings.ledger_step;
  else
    level := (select count(*) from jsonb_array_elements_text(bounds) as bound (n) where bound.n::integer <= total);
  end if;
  return next row(
    '64.2', null, null, 'fatigue', 'levels of Fatigue that are reached', null, fatigue.company, 2 * total,
    jsonb_build_object('fatigue', total, 'level', level, 'cps_lost', level, 'morale', -level)
  )::rulings.ledger_step;
end
$$;

comment on function bob.fatigue(bigint, text, jsonb, integer, integer, boolean, jsonb, jsonb) is
'The Fatigue of a company: what it had, what was added, and the level it has reached; the verdict last.';

create or replace function bob.regroup(
  position_id bigint,
  company text,
  started jsonb,
  ended jsonb,
  fatigue integer,
  rests boolean,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
declare
  had integer;
  lost integer;
  returned integer;
  units integer;
  most integer;
begin
  -- a full-strength unit has two steps, a Reduced one has one
  lost := (
    select sum((2 - (kind.name like '%_reduced')::integer) * (
      coalesce((regroup.started ->> kind.name)::integer, 0) - coalesce((regroup.ended ->> kind.name)::integer, 0)
    ))
    from (values ('squads'), ('squads_reduced'), ('wts'), ('wts_reduced')) as kind (name)
  );
  returned := (lost + 1) / 2;
  select coalesce(
    regroup.fatigue,
    (position.tracks -> 'companies' -> regroup.company ->> 'fatigue')::integer,
    (coalesce(regroup.conditions, position.conditions) -> 'fatigue' ->> regroup.company)::integer
  ) into had
  from public.position where position.id = regroup.position_id;
  -- the most units that it can have again: a step makes a lost unit, Reduced
  units := (
    select sum(coalesce((regroup.ended ->> kind.name)::integer, 0))
    from (values ('squads'), ('squads_reduced'), ('wts'), ('wts_reduced')) as kind (name)
  );
  most := least(
    units + returned,
    (
      select sum(coalesce((regroup.started ->> kind.name)::integer, 0))
      from (values ('squads'), ('squads_reduced'), ('wts'), ('wts_reduced')) as kind (name)
    )
  );
  return next row(
    '65.2', null, null, 'lost', 'steps lost in the scenario', null, regroup.company, 2 * lost, null
  )::rulings.ledger_step;
  return next row(
    '65.2', null, null, 'returned', 'half of them, rounded up', null, regroup.company, 2 * returned, null
  )::rulings.ledger_step;
  return next row(
    '65.2', null, null, 'fatigue',
    case when regroup.rests then 'it rests for a scenario' else '10 less between scenarios' end, null, regroup.company, -20, null
  )::rulings.ledger_step;
  return next row(
    '65.2', null, null, 'regrouped', 'one Command Point for three units at the most', null, regroup.company, null,
    jsonb_build_object(
      'steps_lost', lost,
      'steps_returned', returned,
      'fatigue', case when regroup.rests then 0 else greatest(had - 10, 0) end,
      'max_cps', most / 3
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.regroup(bigint, text, jsonb, jsonb, integer, boolean, jsonb, jsonb) is
'Loss Recovery of a company between scenarios: steps lost and returned, Fatigue, Command Points; the verdict last.';

create or replace function bob._hub_shunned(state positions.state, pieces bob.piece[], owner text, q integer, r integer)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_variable
begin
  return exists (
    select from unnest(pieces) as enemy
    where enemy.side <> owner
      and ((enemy.q, enemy.r) = (q, r) or bob._neighbouring(state, q, r, enemy.q, enemy.r))
  );
end
$$;

comment on function bob._hub_shunned(positions.state, bob.piece[], text, integer, integer) is
'Whether an enemy is in a hex or next to it, so that no Company Hub ends a move there (63.3).';

create or replace function bob.hub(
  position_id bigint, company text, "to" text, manner text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(hub.position_id) as piece);
  marked record;
  goal record;
  owner text;
  foe text;
  mover bob.mover;
  grounds bob.ground[];
  spent integer;
  was boolean;
  hemmed boolean := false;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(hub.position_id, hub.conditions, hub.policy);
  select marker.q, marker.r, marker.value, marker.attributes, hex.label into marked
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = hub.position_id
    and marker.kind = 'company_hub'
    and marker.attributes ->> 'company' = hub.company;
  if marked.q is null then
    raise exception 'there is no Hub of company % on the map', hub.company using errcode = 'no_data_found';
  end if;
  select hex.q, hex.r, hex.label into goal from public.hex where hex.map_id = state.map_id and hex.label = hub."to";
  was := coalesce((marked.attributes ->> 'displaced')::boolean, false);
  owner := (
    select min(unit.side) from public.unit
    where unit.position_id = hub.position_id and unit.attributes ->> 'company' = hub.company
  );
  foe := coalesce(
    (select min(piece.side) from unnest(pieces) as piece where piece.side <> owner),
    (
      select edge.name from jsonb_object_keys(coalesce(state.conditions -> 'rout_edge', '{}')) as edge (name)
      where edge.name <> owner limit 1
    )
  );
  if hub.manner = 'move' then
    mover.code := hub.company;
    mover.side := owner;
    mover.kind := 'squad';
    mover.q := marked.q;
    mover.r := marked.r;
    mover.label := marked.label;
    mover.location := 'ground';
    mover.infantry := true;
    mover.vehicle := false;
    mover.japanese := coalesce(owner = 'japan', false);
    mover.towing := false;
    mover.armored := false;
    mover.manner := 'hub';
    -- 63.3: 4 infantry points
    mover.halves := 8;
    mover.spent := 0;
    mover.wired := false;
    mover.engaged := false;
    mover.off_path := false;
    grounds := array(select ground from bob._region(state, pieces, mover, 4) as ground);
    select way.halves into spent
    from bob._spread(mover, grounds, array(select leg from bob._legs(state, mover, grounds) as leg)) as way
    where (grounds[way.n]).label = hub."to";
    -- 63.3: a Displaced Hub that can go nowhere it may end is placed
    hemmed := was and not exists (
      select
      from bob._spread(mover, grounds, array(select leg from bob._legs(state, mover, grounds) as leg)) as way
      cross join lateral (select (grounds[way.n]).q as q, (grounds[way.n]).r as r) as ends
      where not bob._hub_shunned(state, pieces, owner, ends.q, ends.r)
        and bob._edge_distance(state, foe, ends.q, ends.r)
        >= bob._edge_distance(state, foe, marked.q, marked.r) is not false
    );
  end if;
  bars := array(
    select row(fact.rule, null, goal.label, 'forbids', fact.why, fact.point, hub.company, null, null)::rulings.ledger_step
    from (
      values
      (
        exists (select from unnest(pieces) as enemy where enemy.side <> owner and enemy.q = goal.q and enemy.r = goal.r),
        '63.2', 'an enemy is in that hex', null
      ),
      (
        hub.manner = 'displace' and lattice.distance(marked.q, marked.r, goal.q, goal.r) > 2,
        '63.2', 'it is displaced up to two hexes', null
      ),
      (
        hub.manner = 'displace' and not exists (
          select from unnest(pieces) as enemy where enemy.side <> owner and enemy.q = marked.q and enemy.r = marked.r
        ),
        '63.2', 'no enemy is in its hex', null
      ),
      (
        (hub.manner = 'displace' or was)
        and bob._edge_distance(state, foe, goal.q, goal.r) < bob._edge_distance(state, foe, marked.q, marked.r),
        case hub.manner when 'displace' then '63.2' else '63.3' end,
        'it would be closer to the enemy''s Rout Edge', 'bob-52'
      ),
      (
        hub.manner = 'move' and bob._hub_shunned(state, pieces, owner, goal.q, goal.r),
        '63.3', 'it would end next to an enemy', null
      ),
      (hub.manner = 'move' and spent is null and not hemmed, '63.3', 'it has not the points for it', null),
      (
        hub.manner = 'move' and coalesce(state.conditions ->> 'phase', 'recovery') <> 'recovery',
        '63.3', 'Hubs move in the Recovery Phase', null
      )
    ) as fact (holds, rule, why, point)
    where fact.holds
  );
  return query select * from unnest(bars);
  return next row(
    case hub.manner when 'displace' then '63.2' else '63.3' end, null, goal.label,
    case when cardinality(bars) > 0 then 'refused' else 'goes' end, 'where a Hub goes', null, hub.company, spent,
    jsonb_build_object(
      'at', marked.label, 'value', marked.value, 'was_displaced', was, 'displaced', hub.manner = 'displace', 'halves', spent
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.hub(bigint, text, text, text, jsonb, jsonb) is
'Whether a Company Hub may go to a hex, displaced or by its own movement; the verdict last.';
