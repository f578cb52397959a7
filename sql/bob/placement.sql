-- needs: bob/control.sql, bob/rout.sql, bob/stack.sql
-- Where units and fortifications may be placed in bob (Band of Brothers): 15.0, 16.2, 18.0, 43.0 to 43.5, 59.4, 63.3, 65.3.

drop type if exists bob.spot cascade;
create type bob.spot as (
  q integer,
  r integer,
  label text,
  terrain text,
  features text array,
  level integer,
  shelter text,
  nearest_enemy integer,
  nearest_friend integer,
  watched boolean,
  ours boolean,
  at_edge boolean,
  sides text array
);

comment on type bob.spot is
'A hex in which something is to be placed: its cover, who is near, and whether an enemy sees it.';
comment on column bob.spot.at_edge is 'Whether it lies on the Rout Edge of the side';
comment on column bob.spot.ours is 'Whether it is in the Area of Control of the side (16.1); null where the Rout Edge is not told';

create or replace function bob._spot(state positions.state, pieces bob.piece[], side text, at text)
returns bob.spot
language plpgsql stable
as $$
declare
  spot bob.spot;
begin
  select hex.q, hex.r, hex.label, hex.terrain, hex.features, bob._level(hex.terrain, hex.level)
  into spot.q, spot.r, spot.label, spot.terrain, spot.features, spot.level
  from public.hex where hex.map_id = state.map_id and hex.label = _spot.at;
  spot.shelter := bob._sheltered(state, spot.q, spot.r, spot.label, spot.terrain);
  select
    min(lattice.distance(spot.q, spot.r, piece.q, piece.r)) filter (where piece.side <> _spot.side and not piece.mounted),
    min(lattice.distance(spot.q, spot.r, piece.q, piece.r)) filter (where piece.side = _spot.side and not piece.mounted)
  into spot.nearest_enemy, spot.nearest_friend
  from unnest(pieces) as piece;
  spot.watched := exists (
    select from unnest(pieces) as enemy
    where enemy.side <> _spot.side and not enemy.mounted
      and bob._seen(state, 'unit:' || enemy.code, 'hex:' || spot.label)
  );
  select area.held into spot.ours
  from bob._area_of_control(state, _spot.side) as area where area.q = spot.q and area.r = spot.r;
  spot.at_edge := exists (
    select from bob._edge_hexes(state, _spot.side) as edge where edge.q = spot.q and edge.r = spot.r
  );
  spot.sides := array(
    select distinct hexside.kind
    from lattice.neighbours(spot.q, spot.r) as beside
    inner join public.hexside
      on hexside.map_id = state.map_id and hexside.x = spot.q + beside.nq and hexside.y = spot.r + beside.nr
  );
  return spot;
end
$$;

comment on function bob._spot(positions.state, bob.piece[], text, text) is
'A hex as a side that would place something there sees it.';

create or replace function bob._limit_row(state positions.state, side text, foe text, used text[], q integer, r integer)
returns table (own integer, limit_row integer, marker text)
language sql stable rows 1
as $$
  -- 65.3: not nearer to the opponent's Rout Edge than the row of the nearest Used marker
  select
    bob._edge_distance(state, foe, _limit_row.q, _limit_row.r),
    bob._edge_distance(state, foe, hex.q, hex.r),
    hex.label
  from public.hex
  where hex.map_id = state.map_id
    and hex.label = any(used)
  order by lattice.distance(hex.q, hex.r, _limit_row.q, _limit_row.r), bob._edge_distance(state, foe, hex.q, hex.r)
  limit 1
$$;

comment on function bob._limit_row(positions.state, text, text, text[], integer, integer) is
'How far a hex, and the Used marker nearest to it, are from the opponent''s Rout Edge (65.3).';

create or replace function bob._fortification_bars(state positions.state, spot bob.spot, kind text, facing integer)
returns table (rule text, why text)
language sql stable rows 1
as $$
  select fact.rule, fact.why
  from (
    values
    (
      kind = 'fortified' and spot.terrain not in ('stone_building', 'wooden_building'),
      '43.5', 'Fortified counters are placed in buildings'
    ),
    (
      kind <> 'fortified' and spot.terrain in ('stone_building', 'wooden_building'),
      '43.0', 'no fortification in a building other than a Hut'
    ),
    (
      kind <> 'fortified' and (spot.terrain in ('swamp', 'surf', 'ocean', 'sandbar', 'river', 'stream', 'canal') or 'bridge' = any(spot.features)),
      '43.0', 'no fortification in water, swamp, sandbar or on a bridge'
    ),
    (
      kind not in ('wire', 'mines', 'concentrated_mines') and exists (
        select from public.marker
        where marker.position_id = state.position_id and marker.q = spot.q and marker.r = spot.r
          and marker.kind in ('foxhole', 'trench', 'pillbox', 'bunker', 'cave', 'small_cave', 'sangar', 'fortified')
      ),
      '43.0', 'a fortification is there already'
    ),
    (
      kind in ('cave', 'small_cave') and spot.level < 1,
      '43.4', 'a Cave is set up in a Hill hex'
    ),
    (
      kind in ('cave', 'small_cave') and facing is not null and exists (
        select from lattice.neighbours(spot.q, spot.r) as beside
        inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
        where beside.direction in (facing, facing % 6 + 1)
          and bob._level(hex.terrain, hex.level) >= spot.level
      ),
      '43.4', 'both hexes before a Cave lie lower than its hill'
    )
  ) as fact (holds, rule, why)
  where fact.holds
$$;

comment on function bob._fortification_bars(positions.state, bob.spot, text, integer) is
'Why a fortification cannot be placed in a hex (43.0, 43.4, 43.5); no row where it can.';

create or replace function bob._fow_place(spot bob.spot)
returns boolean
language sql immutable parallel safe
return spot.shelter is not null
and coalesce(spot.ours, true)
and coalesce(spot.nearest_friend <= 3, false)
and coalesce(spot.nearest_enemy >= 3, true);

comment on function bob._fow_place(bob.spot) is
'Whether a FOW unit may be placed in a hex in its own side''s Operations Range (16.2).';

create or replace function bob._placement_bars(
  state positions.state, pieces bob.piece[], spot bob.spot, side text, kind text, manner text, used text[]
)
returns table (rule text, why text, point text)
language plpgsql stable rows 2
as $$
#variable_conflict use_column
declare
  mover bob.piece;
  foe text;
  row_limit record;
  -- 16.2: in its own Range it may come in from its Rout Edge instead
  enters boolean := manner = 'fow' and spot.at_edge;
begin
  select * into mover from unnest(pieces) as piece where piece.side <> _placement_bars.side and piece.attributes ? 'moving';
  foe := (select min(piece.side) from unnest(pieces) as piece where piece.side <> _placement_bars.side);
  foe := coalesce(foe, (
    select edge.side from jsonb_object_keys(coalesce(state.conditions -> 'rout_edge', '{}')) as edge (side)
    where edge.side <> _placement_bars.side limit 1
  ));
  select * into row_limit
  from bob._limit_row(state, _placement_bars.side, foe, used, spot.q, spot.r);
  return query
  select fact.rule, fact.why, fact.point
  from (
    values
    (
      manner = 'reinforcement' and coalesce(spot.nearest_enemy <= 1, false),
      '18.0', 'reinforcements are not set up next to an enemy', null
    ),
    (
      manner in ('fow', 'fow_reaction') and not enters and spot.shelter is null,
      '16.2', 'it must be in Beneficial Terrain', null
    ),
    (manner in ('fow', 'fow_reaction') and not enters and spot.ours is false, '16.2', 'it is not in its Area of Control', 'bob-52'),
    (
      manner = 'fow' and not enters and coalesce(spot.nearest_friend > 3, true),
      '16.2', 'no friendly unit is within 3 hexes', null
    ),
    (
      manner = 'fow' and not enters and coalesce(spot.nearest_enemy < 3, false),
      '16.2', 'an enemy is nearer than 3 hexes', null
    ),
    (enters and coalesce(spot.nearest_enemy = 0, false), '16.2', 'an enemy is there', null),
    (
      manner = 'fow_reaction' and mover.code is null,
      '16.2', 'no enemy has just entered a hex', null
    ),
    (
      manner = 'fow_reaction' and lattice.distance(spot.q, spot.r, mover.q, mover.r) not in (1, 2),
      '16.2', 'it must be 1 or 2 hexes from the enemy that moves', null
    ),
    (
      manner = 'fow_reaction' and bob._edge_distance(state, _placement_bars.side, spot.q, spot.r)
        >= bob._edge_distance(state, _placement_bars.side, mover.q, mover.r),
      '16.2', 'it must be closer to its Rout Edge than the enemy that moves', 'bob-52'
    ),
    (
      manner = 'fow_reaction' and mover.attributes -> 'moving' ->> 'from' = spot.label,
      '16.2', 'the enemy has just left this hex', null
    ),
    (
      manner = 'fow_reaction' and exists (
        select from unnest(pieces) as enemy
        where enemy.side <> _placement_bars.side and enemy.code <> mover.code
          and lattice.distance(spot.q, spot.r, enemy.q, enemy.r) <= 1
      ),
      '16.2', 'an enemy that does not move is within 1 hex', null
    ),
    (
      manner = 'regroup' and row_limit.own < row_limit.limit_row,
      '65.3', format('it is nearer to the enemy''s Rout Edge than the Used marker in %s', row_limit.marker), 'bob-52'
    ),
    (
      manner = 'regroup' and coalesce(spot.nearest_enemy <= 3, false) and not spot.label = any(used),
      '65.3', 'an enemy is within 3 hexes', null
    ),
    (manner = 'hub' and coalesce(spot.nearest_enemy <= 1, false), '63.3', 'an enemy is adjacent', null),
    (
      manner = 'satt' and not exists (
        select from unnest(pieces) as friend
        where friend.side = _placement_bars.side and not friend.vehicle
          and lattice.distance(spot.q, spot.r, friend.q, friend.r) <= 3
      ),
      '59.4', 'no Japanese unit other than a Vehicle is within 3 hexes', null
    ),
    (
      manner = 'satt' and (
        select count(*) filter (where enemy.vehicle) <> 1 or count(*) filter (where not enemy.vehicle) > 0
        from unnest(pieces) as enemy
        where enemy.side <> _placement_bars.side and enemy.q = spot.q and enemy.r = spot.r and not enemy.mounted
      ),
      '59.4', 'an enemy Vehicle must be there by itself', null
    ),
    (
      manner = 'satt' and exists (
        select from unnest(pieces) as enemy
        where enemy.side <> _placement_bars.side and enemy.vehicle and enemy.q = spot.q and enemy.r = spot.r
          and enemy.attributes -> 'satt_at' ? spot.label
      ),
      '59.4', 'a team has gone for the Vehicle in this hex this turn', null
    ),
    (
      manner = 'satt' and spot.terrain in ('surf', 'ocean', 'river', 'canal'),
      '59.4', 'not in Surf or Water', null
    ),
    (
      kind in ('vehicle', 'carrier', 'gun') and spot.terrain = 'swamp',
      '52.0', 'no Gun or Vehicle in a Swamp', null
    ),
    (
      manner in ('setup', 'reinforcement', 'fow', 'fow_reaction', 'decoy') and exists (
        select from bob._stack_bars(
          bob._standing(pieces, _placement_bars.side, spot.q, spot.r, 'ground', null) || kind, 'ground',
          bob._foes(pieces, _placement_bars.side, spot.q, spot.r, 'ground'), state.readings
        ) as bar where bar.over > 0
      ),
      '2.0', 'too many would stand there', null
    )
  ) as fact (holds, rule, why, point)
  where fact.holds;
end
$$;

comment on function bob._placement_bars(positions.state, bob.piece[], bob.spot, text, text, text, text[]) is
'Why a unit cannot be placed in a hex in that manner; no row where it can (16.2, 18.0, 59.4, 63.3, 65.3).';

create or replace function bob.placement(
  position_id bigint,
  unit text,
  side text,
  kind text,
  nation text,
  at text,
  manner text,
  used text[],
  facing integer,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  pieces bob.piece[];
  spot bob.spot;
  bars rulings.ledger_step[];
  hidden boolean;
  enters boolean;
begin
  select * into state from positions.state(placement.position_id, placement.conditions, placement.policy);
  pieces := array(
    select piece from bob._pieces(placement.position_id) as piece where piece.code is distinct from placement.unit
  );
  spot := bob._spot(state, pieces, placement.side, placement.at);
  -- 16.2: on its Rout Edge it comes in where it could not be placed
  enters := placement.manner = 'fow' and spot.at_edge and not bob._fow_place(spot);
  if placement.manner = 'fortification' then
    bars := array(
      select row(bar.rule, null, spot.label, 'forbids', bar.why, null, null, null, null)::rulings.ledger_step
      from bob._fortification_bars(state, spot, placement.kind, placement.facing) as bar
    );
    hidden := (state.conditions ->> 'module' = 'pacific' or state.conditions -> 'rules' ? 'fortification_concealment')
      and placement.kind not in ('cave', 'small_cave', 'wire') and spot.shelter is not null;
  else
    bars := array(
      select row(bar.rule, null, spot.label, 'forbids', bar.why, bar.point, placement.unit, null, null)::rulings.ledger_step
      from bob._placement_bars(
        state, pieces, spot, placement.side, placement.kind, placement.manner, placement.used
      ) as bar
    );
    -- 15.0: in cover, beside a Hedgerow, a Wall or on a Hill, or where no enemy sees it; lost at once where it would be
    hidden := placement.manner not in ('satt', 'hub')
      and spot.terrain not in ('ocean', 'surf')
      and (
        not spot.watched
        or (spot.shelter is not null and placement.kind not in ('vehicle', 'carrier'))
        or (placement.kind in ('squad', 'wt', 'decoy') and (spot.sides && '{hedgerow,wall,roadblock}' or spot.level > 0)
          and not spot.watched)
      )
      and not (coalesce(spot.nearest_enemy <= 1, false) and spot.terrain <> 'jungle');
  end if;
  return query select * from unnest(bars);
  if enters then
    return next row(
      '16.2', null, spot.label, 'enters', 'it comes in from its Rout Edge', null, placement.unit, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    case when placement.manner = 'fortification' then '43.0' else '15.0' end, null, spot.label,
    case when hidden then 'concealed' else 'open' end,
    case
      when hidden and spot.watched then 'in cover'
      when hidden then 'no enemy sees it'
      else 'it would lose its Concealment at once'
    end,
    null, null, null, null
  )::rulings.ledger_step;
  return next row(
    '18.0', null, spot.label, case when cardinality(bars) > 0 then 'refused' else 'allowed' end,
    coalesce((select string_agg(bar.note, '; ') from unnest(bars) as bar), 'it may be placed there'), null, null, null,
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'enters', enters,
      'at_edge', spot.at_edge,
      -- 59.2: Japanese that enter play Concealed have the -2 counter
      'concealed', case when not hidden then 0 when placement.nation = 'japan' and placement.manner <> 'fortification' then 2 else 1 end
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.placement(bigint, text, text, text, text, text, text, text[], integer, jsonb, jsonb) is
'Whether a unit or fortification may be placed in a hex, why not, and whether Concealed; the verdict last.';
