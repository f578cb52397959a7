-- needs: bob/pieces.sql, bob/thread.sql, charts/cells.sql, rulings/step.sql
-- What a step costs in bob (Band of Brothers), and what bars it: 5.0, 20.3, 21.1, 43 to 55. Points are counted in halves.
--
-- The numbers of terrain and hexsides are cells of the Player Aid Card, of which the book prints some.
-- bob.move, bob.reach and bob.rout_path take a step's price from the same legs, so they cannot disagree.

drop type if exists bob.mover cascade;
create type bob.mover as (
  code text,
  side text,
  kind text,
  q integer,
  r integer,
  label text,
  location text,
  infantry boolean,
  vehicle boolean,
  japanese boolean,
  facing integer,
  craft text,
  towing boolean,
  armored boolean,
  manner text,
  halves integer,
  spent integer,
  most integer,
  wired boolean,
  engaged boolean,
  off_path boolean,
  into_location text,
  turns jsonb,
  facings jsonb,
  read jsonb
);

comment on type bob.mover is
'Who moves and how: what it pays by, what it has, and what it stands in as it begins.';
comment on column bob.mover.manner is 'move, withdraw, retreat, seishin, banzai, reverse, trail or rout';
comment on column bob.mover.halves is 'Halves of its movement allowance, bonuses included; null where its counter does not tell';
comment on column bob.mover.most is 'Hexes that it may enter at most: two in a deluge (55.2)';
comment on column bob.mover.wired is 'Whether it begins in a Wire hex (43.6)';
comment on column bob.mover.engaged is 'Whether an enemy unit is where it begins (5.1)';
comment on column bob.mover.off_path is 'Whether it keeps off Paths, at the cost of the terrain (53.0)';
comment on column bob.mover.into_location is 'cave, upper or ground: the location of its last hex in which it ends; null where it changes none';
comment on column bob.mover.turns is 'Where a Vehicle turns within its hex, and to which corner, by hex (20.3)';
comment on column bob.mover.facings is 'Its facing as it leaves each hex of its way';
comment on column bob.mover.read is 'What somebody reads off the Player Aid Card where it is not told, by chart and row';

create or replace function bob._bonus_steps(piece bob.piece, manner text, cp boolean, conditions jsonb)
returns setof rulings.move_step
language sql immutable rows 3
as $$
  select
    fact.rule,
    null,
    piece.label,
    fact.effect,
    fact.note,
    null,
    fact.halves,
    null::integer,
    null
  from (
    values
    (
      1, true, '2.0', 'allowance',
      case piece.kind when 'wt' then 'a Weapon Team has 4 MPs' when 'squad' then 'a Squad has 5 MPs' else 'a Decoy has 5 MPs' end,
      case
        when piece.attributes ? 'movement' then (2 * (piece.attributes ->> 'movement')::numeric)::integer
        when piece.kind = 'wt' then 8
        else 10
      end
    ),
    (2, coalesce(conditions ->> 'weather' = 'snow', false), '55.1', '-1', 'snow', -2),
    (3, cp and manner <> 'banzai', '5.4', '+1', 'a Command Point', 2),
    (4, manner = 'seishin', '59.5', '+1', 'Seishin', 2),
    (5, manner = 'banzai', '59.6', '+4', 'a Banzai Charge', 8),
    (
      6, piece.nation = 'japan' and piece.infantry and jsonb_typeof(conditions -> 'night') = 'object',
      '59.0', 'exempt', 'Japanese Infantry moves at night without the cost of night', 0
    )
  ) as fact (n, holds, rule, effect, note, halves)
  where fact.holds
    and (piece.infantry or piece.decoy)
  order by fact.n
$$;

comment on function bob._bonus_steps(bob.piece, text, boolean, jsonb) is
'The movement allowance of infantry, and what raises or lowers it (2.0, 5.4, 55.1, 59.0, 59.5, 59.6).';

create or replace function bob._mover(
  state positions.state, pieces bob.piece[], unit text, manner text, cp boolean, off_path boolean
)
returns bob.mover
language plpgsql stable
as $$
declare
  counter positions.counter := positions._asked_counter(state.position_id, unit);
  piece bob.piece;
  engaged boolean;
begin
  select * into piece from unnest(pieces) as found where found.code = _mover.unit;
  if piece.code is null then
    raise exception 'the unit % is not on the map', counter.code using errcode = 'no_data_found';
  end if;
  engaged := exists (
    select
    from unnest(pieces) as enemy
    where enemy.side <> piece.side
      and enemy.q = piece.q
      and enemy.r = piece.r
      and enemy.location = piece.location
      and not enemy.mounted
  );
  return row(
    piece.code,
    piece.side,
    piece.kind,
    piece.q,
    piece.r,
    piece.label,
    piece.location,
    piece.infantry or piece.decoy,
    piece.vehicle,
    piece.nation = 'japan',
    (piece.attributes ->> 'facing')::integer,
    piece.attributes ->> 'landing_craft',
    exists (
      select
      from public.unit as load
      where load.position_id = state.position_id
        and load.kind = 'gun'
        and load.attributes ->> 'in' = piece.code
    ),
    not piece.attributes ? 'unarmored',
    coalesce(manner, case when engaged and not piece.vehicle then 'withdraw' else 'move' end),
    case
      when piece.vehicle or piece.gun then (2 * (piece.attributes ->> 'movement')::numeric)::integer
      else (
        select sum(step.halves)
        from bob._bonus_steps(piece, coalesce(manner, 'move'), coalesce(cp, false), state.conditions) as step
      )
    end,
    coalesce((2 * (piece.attributes -> 'moving' ->> 'spent')::numeric)::integer, 0),
    case
      when state.conditions ->> 'weather' = 'monsoon'
        then greatest(2 - coalesce((piece.attributes -> 'moving' ->> 'hexes')::integer, 0), 0)
    end,
    exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'wire'
        and marker.q = piece.q
        and marker.r = piece.r
    ) and not piece.vehicle,
    engaged,
    coalesce(off_path, false),
    null,
    null,
    null,
    null
  )::bob.mover;
end
$$;

comment on function bob._mover(positions.state, bob.piece[], text, text, boolean, boolean) is
'The unit that moves, or an error that says that it is not there or not on the map.';

drop type if exists bob.ground cascade;
create type bob.ground as (
  q integer,
  r integer,
  label text,
  terrain text,
  features text array,
  level integer,
  enemy boolean,
  enemy_gun boolean,
  enemy_vehicle boolean,
  lurking boolean,
  wire boolean,
  breach boolean,
  dug boolean,
  trench boolean,
  mines integer
);

comment on type bob.ground is
'A hex as a mover meets it: its terrain, the enemies there, and what markers make of it.';
comment on column bob.ground.enemy is 'Whether an enemy Squad, WT, Gun or Decoy is there on foot';
comment on column bob.ground.lurking is 'Whether a Concealed enemy is there';
comment on column bob.ground.dug is 'Whether a Trench leads into it: a Trench, Pillbox or Bunker (43.2)';
comment on column bob.ground.mines is 'Halves that infantry pays at least for its mines (49.0); 0 without';

create or replace function bob._ground(state positions.state, pieces bob.piece[], side text, qs integer[], rs integer[])
returns setof bob.ground
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with enemies as materialized (
    select
      enemy.q,
      enemy.r,
      bool_or((enemy.infantry or enemy.gun or enemy.decoy) and enemy.location = 'ground') as foot,
      bool_or(enemy.gun) as gun,
      bool_or(enemy.vehicle) as vehicle,
      bool_or(enemy.concealed > 0) as lurking
    from unnest(pieces) as enemy
    where enemy.side <> _ground.side
      and not enemy.mounted
    group by enemy.q, enemy.r
  ),
  laid as materialized (
    select
      marker.q,
      marker.r,
      array_agg(marker.kind) as kinds
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('wire', 'breach', 'trench', 'pillbox', 'bunker', 'mines', 'concentrated_mines')
    group by marker.q, marker.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    hex.features,
    bob._level(hex.terrain, hex.level),
    coalesce(enemies.foot, false),
    coalesce(enemies.gun, false),
    coalesce(enemies.vehicle, false),
    coalesce(enemies.lurking, false),
    coalesce('wire' = any(laid.kinds), false),
    coalesce('breach' = any(laid.kinds), false),
    coalesce(laid.kinds && '{trench,pillbox,bunker}', false),
    coalesce('trench' = any(laid.kinds), false),
    case when 'concentrated_mines' = any(laid.kinds) then 4 when 'mines' = any(laid.kinds) then 3 else 0 end
  from unnest(qs, rs) as cell (q, r)
  inner join public.hex on hex.map_id = state.map_id and hex.q = cell.q and hex.r = cell.r
  left join enemies on enemies.q = hex.q and enemies.r = hex.r
  left join laid on laid.q = hex.q and laid.r = hex.r;
end
$$;

comment on function bob._ground(positions.state, bob.piece[], text, integer[], integer[]) is
'Hexes by their places on the lattice, as units of a side meet them.';

create or replace function bob._card(mobility text, read jsonb default null)
returns jsonb
language plpgsql stable
set enable_nestloop = on
as $$
begin
  return (select jsonb_object_agg(
    cell.row_key,
    jsonb_build_object(
      'halves', case
        when cell.value ~ '^[0-9.]+$' then (2 * cell.value::numeric)::integer
        when cell.value is null and jsonb_typeof(read -> cell.chart) = 'number' then (2 * (read ->> cell.chart)::numeric)::integer
        when cell.value is null then (2 * (read -> cell.chart ->> cell.row_key)::numeric)::integer
      end,
      'word', case when cell.value in ('prohibited', 'all') then cell.value end,
      'rule', cell.rule
    )
  )
  from (
    select 'pac_terrain' as chart, told.* from charts.cells('bob', 'pac_terrain') as told
    union all
    select 'pac_hexside', told.* from charts.cells('bob', 'pac_hexside') as told
  ) as cell
  where cell.column_key = 'mp_' || _card.mobility);
end
$$;

comment on function bob._card(text, jsonb) is
'Movement costs of the Player Aid Card for infantry or vehicles, by terrain and hexside: what is told of them, and where nothing is
what somebody reads there (5.0).';

drop type if exists bob.leg cascade;
create type bob.leg as (
  fq integer,
  fr integer,
  tq integer,
  tr integer,
  label text,
  side_label text,
  direction integer,
  ground text,
  rule text,
  halves integer,
  whole boolean,
  least integer,
  least_rule text,
  least_note text,
  ridge boolean,
  side_kind text,
  side_rule text,
  side_halves integer,
  more integer,
  more_rule text,
  more_note text,
  times integer,
  untold text,
  bound boolean,
  shut_rule text,
  shut text,
  stops boolean,
  price integer
);

comment on type bob.leg is
'A step from a hex into the next: what each rule adds to its price, or why it cannot be made.';
comment on column bob.leg.ground is 'What is paid for: a terrain, or path, trench, road, ditch, breach';
comment on column bob.leg.whole is 'Whether it takes the whole allowance';
comment on column bob.leg.least is 'Halves that the hex costs at least: night, mines';
comment on column bob.leg.untold is 'What nobody has told of its price';
comment on column bob.leg.bound is 'Whether the price is a limit only: along a road it is less';
comment on column bob.leg.stops is 'Whether the mover must stop there';

create or replace function bob._entry(card jsonb, mover bob.mover, conditions jsonb, terrain text, features text[], way text)
returns text
language sql immutable parallel safe
return case
  when way is not null then way
  when terrain in ('river', 'canal') and 'bridge' = any(features) then 'bridge'
  when terrain = 'river' and 'shallow' = any(features) then 'river/shallow'
  when terrain = 'jungle' and (conditions ->> 'jungle_cost')::numeric = 2.5 then 'jungle/new_britain'
  else terrain
end;

comment on function bob._entry(jsonb, bob.mover, jsonb, text, text[], text) is
'The row of the Player Aid Card by which a hex is paid for.';

create or replace function bob._ways(state positions.state)
returns table (fq integer, fr integer, tq integer, tr integer, kinds text[])
language sql stable rows 50
as $$
  select
    step.fq,
    step.fr,
    step.tq,
    step.tr,
    array_agg(distinct step.kind)
  from (
    select
      path.kind,
      path.qs[place.n] as aq,
      path.rs[place.n] as ar,
      path.qs[place.n + 1] as bq,
      path.rs[place.n + 1] as br
    from public.path
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as place (n)
    where path.map_id = state.map_id
  ) as link
  cross join lateral (
    values (link.aq, link.ar, link.bq, link.br, link.kind), (link.bq, link.br, link.aq, link.ar, link.kind)
  ) as step (fq, fr, tq, tr, kind)
  group by step.fq, step.fr, step.tq, step.tr
$$;

comment on function bob._ways(positions.state) is
'Every hexside that a road, dike road or path crosses, both ways (42.0, 53.0).';

create or replace function bob._way(
  mover bob.mover, start bob.ground, goal bob.ground, kinds text[], card jsonb, conditions jsonb
)
returns text
language sql immutable parallel safe
return case
  -- 54.5
  when 'ditch' = any(goal.features) and mover.vehicle then case when goal.breach then 'breach' else 'ditch' end
  when 'ditch' = any(goal.features) then 'ditch'
  -- 43.2: from Trench to Trench, or to a Pillbox or Bunker beside one
  when mover.infantry and start.dug and goal.dug and (start.trench or goal.trench) then 'trench'
  -- 53.0: over a Path hexside, unless it keeps off
  when mover.infantry and 'path' = any(kinds) and not mover.off_path
    and coalesce((card -> goal.terrain ->> 'halves')::integer >= 2, true) then 'path'
  -- 42.0, 55.1: snow takes the benefit of roads away
  when kinds && '{road,dike_road}' and (card -> 'road' ->> 'halves') is not null
    and conditions ->> 'weather' is distinct from 'snow' then 'road'
end;

comment on function bob._way(bob.mover, bob.ground, bob.ground, text[], jsonb, jsonb) is
'What a step goes by other than the terrain of the hex: path, trench, road, ditch or breach; null where nothing.';

create or replace function bob._foot_bars(mover bob.mover, start bob.ground, goal bob.ground, word text, rule text)
returns table (shut_rule text, shut text)
language sql immutable rows 1
as $$
  select fact.rule, fact.why
  from (
    values
    (mover.kind = 'gun', '20.2', 'a Gun never moves by itself'),
    (word = 'prohibited' and start.terrain <> 'ocean', rule, replace(goal.terrain, '_', ' ') || ' cannot be entered'),
    (goal.terrain = 'ocean', '45.5', 'only Landing Craft enter the Ocean'),
    (start.terrain = 'ocean' and goal.terrain <> 'surf', '45.5', 'out of the Ocean it can only go into Surf'),
    (goal.enemy and goal.enemy_vehicle, '20.9', 'an enemy Vehicle and enemy Infantry are there'),
    (
      mover.manner = 'withdraw' and (goal.enemy or goal.enemy_vehicle),
      '5.1', 'who withdraws enters no other enemy hex'
    ),
    (mover.kind = 'decoy' and goal.enemy_vehicle, '20.9', 'a Decoy does not Close Assault')
  ) as fact (holds, rule, why)
  where fact.holds
  limit 1
$$;

comment on function bob._foot_bars(bob.mover, bob.ground, bob.ground, text, text) is
'Why a unit on foot cannot enter a hex (5.0, 5.1, 20.2, 20.9, 45.0); no row where it can.';

create or replace function bob._vehicle_bars(
  mover bob.mover, start bob.ground, goal bob.ground, direction integer, word text, rule text, sides text[]
)
returns table (shut_rule text, shut text)
language sql immutable rows 1
as $$
  select fact.rule, fact.why
  from (select coalesce((mover.facings ->> start.label)::integer, mover.facing) as faced) as corner
  cross join lateral (
    values
    (
      mover.manner <> 'reverse' and corner.faced is not null
      and direction not in (corner.faced, corner.faced % 6 + 1),
      '20.3', 'a Vehicle enters only one of its two front hexes'
    ),
    (
      mover.manner = 'reverse' and corner.faced is not null
      and direction not in ((corner.faced + 2) % 6 + 1, (corner.faced + 3) % 6 + 1),
      '20.3', 'in reverse it enters only one of its two rear hexes'
    ),
    (
      mover.craft is null and word = 'prohibited'
      and not (goal.terrain in ('river', 'canal') and 'bridge' = any(goal.features)),
      rule, 'no Vehicle enters ' || replace(goal.terrain, '_', ' ')
    ),
    (
      mover.craft = 'blue' and goal.terrain not in ('ocean', 'surf', 'river', 'canal'),
      '21.1', 'this Landing Craft stays on the water'
    ),
    (
      mover.craft = 'blue' and start.terrain = 'surf' and goal.terrain = 'ocean' and mover.manner <> 'reverse',
      '21.1', 'out of Surf it goes to Ocean in reverse only'
    ),
    (goal.enemy_vehicle, '20.10', 'an enemy Vehicle is there'),
    (goal.lurking, '20.3', 'a Concealed enemy is there'),
    ('ditch' = any(goal.features) and not goal.breach, '54.5', 'an Anti-tank Ditch without a Breach'),
    ('ditch' = any(goal.features) and goal.breach and not mover.armored, '54.5', 'an Unarmored Vehicle uses no Breach'),
    (
      'ditch' = any(start.features) and 'ditch' = any(goal.features) and not goal.breach,
      '54.5', 'not even from a Breach'
    ),
    (mover.kind = 'carrier' and sides && '{hedgerow,wall}', '21.1', 'a Carrier crosses no Hedgerow and no Wall'),
    (
      ('balka' = any(start.features) or 'balka' = any(goal.features)) and (start.terrain = 'gully') <> (goal.terrain = 'gully'),
      '45.4', 'a steep side of a Balka'
    )
  ) as fact (holds, rule, why)
  where fact.holds
  limit 1
$$;

comment on function bob._vehicle_bars(bob.mover, bob.ground, bob.ground, integer, text, text, text[]) is
'Why a Vehicle cannot enter a hex (20.3, 20.10, 21.1, 45.4, 54.5); no row where it can.';

create or replace function bob._location_bars(
  state positions.state, mover bob.mover, start bob.ground, goal bob.ground, direction integer
)
returns table (shut_rule text, shut text)
language plpgsql stable rows 1
as $$
#variable_conflict use_column
begin
  -- 43.4: out of a Cave only through its two front hexes
  if mover.location = 'cave' and start.q = mover.q and start.r = mover.r and exists (
    select
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('cave', 'small_cave')
      and marker.q = mover.q
      and marker.r = mover.r
      and _location_bars.direction not in (marker.facing, marker.facing % 6 + 1)
  ) then
    return query select '43.4', 'a Cave is left through one of its two front hexes';
  -- 40.2: to other Upper Levels of the building; who wants out goes down first, and who flees does
  elsif mover.location = 'upper' and mover.into_location is distinct from 'ground' and mover.manner not in ('rout', 'retreat') and not (
    goal.terrain = start.terrain
    and goal.terrain in ('stone_building', 'wooden_building')
    and exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'upper_level'
        and marker.q = goal.q
        and marker.r = goal.r
    )
  ) then
    return query select '40.2', 'from an Upper Level only other Upper Levels of the building are next to it';
  end if;
end
$$;

comment on function bob._location_bars(positions.state, bob.mover, bob.ground, bob.ground, integer) is
'Why a unit in a Cave or on an Upper Level cannot go to a hex (40.2, 43.4); no row where it can.';

create or replace function bob._leasts(mover bob.mover, start bob.ground, goal bob.ground, conditions jsonb)
returns table (halves integer, rule text, note text)
language sql immutable rows 1
as $$
  select fact.halves, fact.rule, fact.note
  from (
    values
    (
      jsonb_typeof(conditions -> 'night') = 'object' and mover.infantry and not mover.japanese,
      3, '50.2', 'at night a hex costs at least 1½'
    ),
    (jsonb_typeof(conditions -> 'night') = 'object' and mover.vehicle, 4, '50.2', 'at night a hex costs at least 2'),
    (goal.mines > 0 and mover.infantry, goal.mines, '49.0', 'mines'),
    (
      mover.infantry and 'ditch' = any(start.features) and not 'ditch' = any(goal.features),
      4, '54.5', 'out of an Anti-tank Ditch'
    ),
    (mover.manner = 'trail', 4, '54.4', 'along a Trail')
  ) as fact (holds, halves, rule, note)
  where fact.holds
  order by fact.halves desc, fact.rule
  limit 1
$$;

comment on function bob._leasts(bob.mover, bob.ground, bob.ground, jsonb) is
'What a hex costs at least, and why (49.0, 50.2, 54.4, 54.5); no row where nothing is said.';

create or replace function bob._pairs(state positions.state, grounds bob.ground[])
returns table (direction integer, start bob.ground, goal bob.ground, kinds text[], sides text[])
language sql stable rows 500
as $$
  with way as materialized (
    select * from bob._ways(state)
  ),
  side as materialized (
    select hexside.x, hexside.y, array_agg(hexside.kind order by hexside.kind) as kinds
    from public.hexside
    where hexside.map_id = state.map_id
      and (hexside.kind <> 'roadblock' or not bob._is_cleared(state, hexside.x, hexside.y))
    group by hexside.x, hexside.y
  )
  select
    beside.direction,
    start,
    goal,
    coalesce(way.kinds, '{}'),
    coalesce(side.kinds, '{}')
  from unnest(grounds) as start
  cross join lateral lattice.neighbours(start.q, start.r) as beside
  inner join unnest(grounds) as goal on goal.q = beside.nq and goal.r = beside.nr
  left join way on way.fq = start.q and way.fr = start.r and way.tq = goal.q and way.tr = goal.r
  left join side on side.x = start.q + goal.q and side.y = start.r + goal.r
$$;

comment on function bob._pairs(positions.state, bob.ground[]) is
'Every two neighbouring hexes of a region, each way: the roads and paths between them, and what their side is.';

create or replace function bob._base(mover bob.mover, costs jsonb, key text, start bob.ground)
returns table (halves integer, rule text)
language sql immutable rows 1
as $$
  select
    case
      when key = 'ditch' then case when 'ditch' = any(start.features) then 2 else 4 end
      when key = 'breach' then mover.halves / 4 * 2
      when key = 'bridge' then (costs -> 'open_ground' ->> 'halves')::integer
      else (costs -> key ->> 'halves')::integer
    end,
    case
      when key in ('ditch', 'breach') then '54.5'
      when key = 'bridge' then '45.1'
      else coalesce(costs -> key ->> 'rule', '5.0')
    end
$$;

comment on function bob._base(bob.mover, jsonb, text, bob.ground) is
'What is paid for the ground of a hex itself, by the row of the card (5.0, 45.1, 54.5).';

create or replace function bob._ascends_ridge(start bob.ground, goal bob.ground)
returns boolean
language sql immutable parallel safe
return 'ridge' = any(goal.features) and not 'ridge' = any(start.features) and start.level = 0;

comment on function bob._ascends_ridge(bob.ground, bob.ground) is
'Whether a step goes from Level 0 up onto a Ridge (54.2).';

create or replace function bob._takes_all(mover bob.mover, start bob.ground, goal bob.ground, sides text[])
returns boolean
language sql immutable parallel safe
return not mover.vehicle and (
  (start.terrain = 'ocean' and goal.terrain = 'surf')
  or 'escarpment' = any(sides)
  or (
    ('balka' = any(start.features) or 'balka' = any(goal.features))
    and (start.terrain = 'gully') <> (goal.terrain = 'gully')
  )
);

comment on function bob._takes_all(bob.mover, bob.ground, bob.ground, text[]) is
'Whether a step takes the whole allowance: out of the Ocean 45.5, over the steep side of a Balka 45.4 or an Escarpment 54.3.';

create or replace function bob._walked_level(ground bob.ground, other bob.ground, under boolean)
returns integer
language sql immutable parallel safe
return ground.level
+ (bob._bridged(ground.terrain, ground.features) and other.terrain <> 'gully' and not under)::integer;

comment on function bob._walked_level(bob.ground, bob.ground, boolean) is
'The level on which a step between two hexes begins or ends: a Bridge over a Gully is out of it (45.4).';

create or replace function bob._side_price(costs jsonb, start bob.ground, goal bob.ground, sides text[], under boolean)
returns table (kinds text, rule text, halves integer, untold text, shut text)
language sql immutable rows 1
as $$
  select
    string_agg(side.kind, ', ' order by side.kind) filter (where side.halves is not null),
    min(side.rule),
    coalesce(sum(side.halves), 0)::integer,
    string_agg(side.kind, ', ' order by side.kind) filter (where side.halves is null and side.word is null),
    min(side.rule) filter (where side.word = 'prohibited')
  from (
    select
      kind.name as kind,
      (costs -> kind.name ->> 'halves')::integer as halves,
      costs -> kind.name ->> 'word' as word,
      costs -> kind.name ->> 'rule' as rule
    from (
      select unnest(sides) as name
      union all
      select 'uphill'
      where bob._walked_level(goal, start, false) > bob._walked_level(start, goal, under) and not 'cliff' = any(sides)
      union all
      select 'ridge' where bob._ascends_ridge(start, goal)
    ) as kind
  ) as side
$$;

comment on function bob._side_price(jsonb, bob.ground, bob.ground, text[], boolean) is
'What the side between two hexes adds, and going up: hedgerows, walls, crests (44.0, 46.1, 47.1, 54.2); what bars it or is not told.';

create or replace function bob._surcharge(mover bob.mover, goal bob.ground)
returns table (halves integer, rule text, note text)
language sql immutable rows 1
as $$
  select
    case when mover.vehicle and goal.wire then 8 when mover.towing and mover.craft is null then 1
      when not mover.vehicle and goal.enemy_vehicle and not goal.enemy then 2 else 0 end,
    case when mover.vehicle and goal.wire then '43.6' when mover.towing then '21.1' else '20.9' end,
    case when mover.vehicle and goal.wire then 'Wire' when mover.towing then 'a Gun in tow' else 'a Close Assault' end
$$;

comment on function bob._surcharge(bob.mover, bob.ground) is
'What is added for who moves and what is there: Wire under a Vehicle 43.6, a Gun in tow 21.1, a Close Assault 20.9.';

create or replace function bob._bridge_blocked(state positions.state, start bob.ground, goal bob.ground)
returns boolean
language sql stable
as $$
  select exists (
    select
    from (values (start, goal), (goal, start)) as pair (bridge, other)
    cross join lateral lattice.neighbours((pair.bridge).q, (pair.bridge).r) as beside
    inner join public.hexside
      on hexside.map_id = state.map_id
        and hexside.x = (pair.bridge).q + beside.nq
        and hexside.y = (pair.bridge).r + beside.nr
        and hexside.kind = 'roadblock'
        and not bob._is_cleared(state, hexside.x, hexside.y)
    where 'bridge' = any((pair.bridge).features)
      -- the next side either way, of six
      and (
        beside.direction - lattice.direction((pair.other).q - (pair.bridge).q, (pair.other).r - (pair.bridge).r) + 6
      ) % 6 in (1, 5)
  )
$$;

comment on function bob._bridge_blocked(positions.state, bob.ground, bob.ground) is
'Whether a step onto a Bridge or off it goes over a side next to one with a Roadblock (43.7).';

create or replace function bob._legs(state positions.state, mover bob.mover, grounds bob.ground[])
returns setof bob.leg
language plpgsql stable rows 500
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  -- each part once: what is looked up for a step is not looked up again for every word about it
  costs jsonb := bob._card(case when mover.vehicle then 'vehicle' else 'infantry' end, mover.read);
  -- where no hex can cost more than its terrain, nothing is asked
  dear boolean := jsonb_typeof(state.conditions -> 'night') = 'object' or mover.manner = 'trail' or exists (
    select from unnest(grounds) as ground where ground.mines > 0 or 'ditch' = any(ground.features)
  );
begin
  return query
  with paid as materialized (
    select
      pair.*,
      chosen.way,
      entry.key,
      costs -> entry.key as cell
    from bob._pairs(state, grounds) as pair
    cross join lateral (
      -- reckoned once, not wherever it is read
      select bob._way(mover, pair.start, pair.goal, pair.kinds, costs, state.conditions) as way
      offset 0
    ) as chosen
    cross join lateral (
      select bob._entry(
        costs, mover, state.conditions, (pair.goal).terrain, (pair.goal).features, chosen.way
      ) as key
      offset 0
    ) as entry
  ),
  summed as materialized (
    select
      paid.*,
      base.halves as base,
      base.rule as base_rule,
      -- 42.0: along a road it is less than what the terrain costs, and nobody has told how much
      paid.way is null and (paid.key = 'bridge' or paid.kinds && '{road,dike_road}')
      and state.conditions ->> 'weather' is distinct from 'snow' as bound,
      bob._takes_all(mover, paid.start, paid.goal, paid.sides) as whole,
      least.halves as least,
      least.rule as least_rule,
      least.note as least_note,
      extra.kinds as side_kind,
      extra.rule as side_rule,
      extra.halves as side_halves,
      extra.untold as side_untold,
      extra.shut as side_shut,
      more.halves as more,
      more.rule as more_rule,
      more.note as more_note
    from paid
    cross join lateral bob._base(mover, costs, paid.key, paid.start) as base
    left join lateral (
      select * from bob._leasts(mover, paid.start, paid.goal, state.conditions) where dear
    ) as least on true
    cross join lateral bob._side_price(costs, paid.start, paid.goal, paid.sides, mover.location = 'under') as extra
    cross join lateral bob._surcharge(mover, paid.goal) as more
  )
  select
    (summed.start).q,
    (summed.start).r,
    (summed.goal).q,
    (summed.goal).r,
    (summed.goal).label,
    case when summed.side_halves > 0 then positions.side_label((summed.start).label, (summed.goal).label) end,
    summed.direction,
    summed.key,
    summed.base_rule,
    summed.base,
    summed.whole,
    summed.least,
    summed.least_rule,
    summed.least_note,
    bob._ascends_ridge(summed.start, summed.goal),
    summed.side_kind,
    summed.side_rule,
    summed.side_halves,
    summed.more,
    summed.more_rule,
    summed.more_note,
    case when mover.manner = 'reverse' then 4 else 1 end,
    case
      when not summed.whole and summed.base is null and summed.cell ->> 'word' is null
        then 'pac_terrain ' || summed.key
      when not summed.whole and summed.side_untold is not null then 'pac_hexside ' || summed.side_untold
      when summed.bound then 'pac_terrain road'
    end,
    summed.bound,
    coalesce(bar.shut_rule, summed.side_shut),
    coalesce(bar.shut, case when summed.side_shut is not null then 'this side cannot be crossed' end),
    not mover.vehicle and ((summed.goal).enemy or (summed.goal).enemy_vehicle or (summed.goal).wire),
    case
      when summed.whole then mover.halves
      when summed.side_untold is null and summed.base is not null
        then (greatest(summed.base, summed.least) + summed.side_halves + summed.more)
          * case when mover.manner = 'reverse' then 4 else 1 end
    end
    -- a limit is no price, but suffices to go by
  from summed
  left join lateral (
    select * from bob._location_bars(state, mover, summed.start, summed.goal, summed.direction)
    where mover.location in ('cave', 'upper')
    union all
    select * from bob._foot_bars(mover, summed.start, summed.goal, summed.cell ->> 'word', summed.base_rule)
    where not mover.vehicle
      and (
        mover.kind = 'gun'
        or summed.cell ->> 'word' = 'prohibited'
        or 'ocean' in ((summed.start).terrain, (summed.goal).terrain)
        or (summed.goal).enemy
        or (summed.goal).enemy_vehicle
      )
    union all
    select '45.4', 'nobody moves between a Bridge and the Gully'
    where mover.location = 'ground'
      and (summed.start).q = mover.q
      and (summed.start).r = mover.r
      and (summed.goal).terrain = 'gully'
      and bob._bridged((summed.start).terrain, (summed.start).features)
      and not bob._bridged((summed.goal).terrain, (summed.goal).features)
    union all
    select '43.7', 'a Roadblock on the Bridge bars the sides beside its own as well'
    where mover.vehicle and bob._bridge_blocked(state, summed.start, summed.goal)
    union all
    select *
    from bob._vehicle_bars(
      mover, summed.start, summed.goal, summed.direction, summed.cell ->> 'word', summed.base_rule, summed.sides
    )
    where mover.vehicle
    limit 1
  ) as bar on true;
end
$$;

comment on function bob._legs(positions.state, bob.mover, bob.ground[]) is
'Every step between neighbouring hexes of a region, with its price for a mover and what bars it.';

create or replace function bob._leg_steps(leg bob.leg)
returns setof rulings.move_step
language sql immutable rows 3
as $$
  select
    fact.rule,
    null,
    fact.at,
    fact.effect,
    fact.note,
    null,
    fact.halves,
    null::integer,
    null
  from (
    values
    (1, leg.shut is not null, leg.shut_rule, leg.label, 'forbids', leg.shut, null),
    (
      2, leg.shut is null and leg.whole,
      case leg.ground when 'surf' then '45.5' else coalesce(leg.side_rule, '45.4') end, leg.label, 'cost',
      'the whole allowance', leg.price
    ),
    (
      3, leg.shut is null and not leg.whole and leg.halves is not null and coalesce(leg.least, 0) <= leg.halves,
      leg.rule, leg.label, 'cost', replace(replace(leg.ground, '_', ' '), '/', ', '), leg.halves
    ),
    (
      4, leg.shut is null and not leg.whole and leg.halves is not null and leg.least > leg.halves,
      leg.least_rule, leg.label, 'cost', leg.least_note, leg.least
    ),
    (
      5, leg.shut is null and not leg.whole and leg.side_halves > 0,
      leg.side_rule, leg.side_label, 'cost', leg.side_kind, leg.side_halves
    ),
    (6, leg.shut is null and leg.more > 0, leg.more_rule, leg.label, 'cost', leg.more_note, leg.more),
    (
      7, leg.shut is null and leg.times > 1 and leg.price is not null,
      '20.3', leg.label, 'cost', 'in reverse four times as much', leg.price - leg.price / leg.times
    ),
    -- 47.1: what it costs to go up is on the card alone
    (8, leg.shut is null and leg.untold is not null, case when leg.untold like 'pac_hexside%uphill%' then '47.1' else '5.0' end, leg.label, 'unknown', leg.untold, null)
  ) as fact (n, holds, rule, at, effect, note, halves)
  where fact.holds
  order by fact.n
$$;

comment on function bob._leg_steps(bob.leg) is
'What a step costs, rule by rule, or why it cannot be made.';
