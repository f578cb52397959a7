-- needs: bob/pieces.sql, lattice/trace.sql, rulings/step.sql
-- Mines, Trails, crushed Guns and what is cleared in bob (Band of Brothers): 20.12, 43.6, 43.7, 49.0, 54.4, bob-25, bob-32, bob-41.

create or replace function bob._trail_hexes(state positions.state, owner text)
returns table (trail bigint, q integer, r integer)
language sql stable rows 20
as $$
  select distinct
    marker.id,
    cell.q,
    cell.r
  from public.marker
  inner join public.hex as goal on goal.map_id = marker.map_id and goal.label = marker.attributes ->> 'to'
  cross join lateral (
    select
      coalesce(bool_or(line.kind = 'spine'), false) as along_spine
    from lattice.line(marker.q, marker.r, goal.q, goal.r) as line
  ) as form
  cross join lateral (
    select marker.q, marker.r
    union all
    select goal.q, goal.r
    union all
    select passed.q, passed.r
    from lattice.line(marker.q, marker.r, goal.q, goal.r) as line
    cross join lateral (values (line.q1, line.r1), (line.q2, line.r2)) as passed (q, r)
    where line.kind in ('hex', 'spine')
      and passed.q is not null
  ) as cell
  where marker.position_id = state.position_id
    and marker.kind = 'trail'
    and coalesce(marker.attributes ->> 'owner', owner) = owner
    -- bob-32 b: straight rows only
    and (state.readings ->> 'bob-32' <> 'b' or not form.along_spine)
$$;

comment on function bob._trail_hexes(positions.state, text) is
'The hexes of the Trails that a side knows: a straight row, or the hexes beside a spine line (54.4, bob-32).';

create or replace function bob.mines(
  position_id bigint, unit text, path text[], manner text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  mover bob.piece;
  place record;
  last_q integer;
  last_r integer;
  entered integer := 0;
  checks jsonb := '[]';
  way text[] := mines.path;
  spine boolean;
begin
  select * into state from positions.state(mines.position_id, mines.conditions, mines.policy);
  select * into mover from bob._pieces(mines.position_id) as piece where piece.code = mines.unit;
  if mover.code is null then
    raise exception 'the unit % is not on the map', mines.unit using errcode = 'no_data_found';
  end if;
  if way[1] = mover.label then
    way := way[2:];
  end if;
  last_q := mover.q;
  last_r := mover.r;
  spine := exists (
    select from public.marker where marker.position_id = mines.position_id and marker.kind = 'trail'
  );
  for place in
    select
      hex.q,
      hex.r,
      hex.label,
      (
        select max(case marker.kind when 'concentrated_mines' then 2 else 1 end)
        from public.marker
        where marker.position_id = mines.position_id
          and marker.kind in ('mines', 'concentrated_mines')
          and marker.q = hex.q
          and marker.r = hex.r
      ) as strikes
    from unnest(way) with ordinality as step (label, n)
    inner join public.hex on hex.map_id = state.map_id and hex.label = step.label
    order by step.n
  loop
    if mover.vehicle and place.strikes is not null then
      if mines.manner is distinct from 'off_trail' and exists (
        select
        from bob._trail_hexes(state, mover.side) as here
        inner join bob._trail_hexes(state, mover.side) as there on there.trail = here.trail
        where here.q = last_q and here.r = last_r and there.q = place.q and there.r = place.r
      ) then
        -- 54.4: along a Trail nothing is checked; who leaves it begins anew
        entered := 0;
        return next row('54.4', null, place.label, 'passes', 'along a Trail', 'bob-32', null, null, null)::rulings.ledger_step;
      else
        if entered % 5 = 0 then
          checks := checks || jsonb_build_object('at', place.label, 'strikes', place.strikes);
          return next row(
            '49.0', null, place.label, 'roll',
            case place.strikes when 2 then 'a concentrated minefield: 1 or 2 strikes' else 'a minefield: 1 strikes' end,
            case when spine then 'bob-32' end, null, null, null
          )::rulings.ledger_step;
        end if;
        entered := entered + 1;
      end if;
    end if;
    last_q := place.q;
    last_r := place.r;
  end loop;
  return next row(
    '49.0', null, null, 'checked',
    case when mover.vehicle then 'the first mine hex of a move, and every fifth after it' else 'infantry only pays more' end,
    null, null, null, jsonb_build_object('checks', checks, 'vehicle', mover.vehicle)
  )::rulings.ledger_step;
end
$$;

comment on function bob.mines(bigint, text, text[], text, jsonb, jsonb) is
'Where along a way a Vehicle is attacked by mines, and on what rolls it strikes one; the verdict last.';

create or replace function bob.crush(
  position_id bigint, unit text, target text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(crush.position_id) as piece);
  tank bob.piece;
  gun bob.piece;
  ground record;
  bars rulings.ledger_step[];
  squad boolean;
begin
  select * into state from positions.state(crush.position_id, crush.conditions, crush.policy);
  select * into tank from unnest(pieces) as piece where piece.code = crush.unit;
  select * into gun from unnest(pieces) as piece where piece.code = crush.target;
  select hex.terrain into ground from public.hex where hex.map_id = state.map_id and hex.q = gun.q and hex.r = gun.r;
  squad := exists (
    select from unnest(pieces) as other
    where other.side = gun.side and other.kind = 'squad' and other.q = gun.q and other.r = gun.r and not other.mounted
  );
  bars := array(
    select row('20.12', null, gun.label, 'forbids', fact.why, null, tank.code, null, null)::rulings.ledger_step
    from (
      values
      (not coalesce(state.conditions -> 'rules' ? 'crushing', false), 'the scenario does not allow it'),
      (not coalesce(bob._flag(tank, 'crusher'), false), 'this Vehicle does not crush'),
      (not coalesce(gun.gun, false) or gun.side = tank.side, 'only an enemy Gun is crushed'),
      (coalesce(gun.mounted, false), 'a mounted Gun is not crushed'),
      (coalesce(gun.concealed, 0) > 0, 'a Concealed Gun is not crushed'),
      (bob._flag(tank, 'used') or bob._flag(tank, 'op_fire'), 'it has been Used'),
      (coalesce((tank.attributes ->> 'uk')::integer, 0) > 0, 'it is under an Unconfirmed Kill'),
      (
        exists (select from unnest(pieces) as rider where rider.attributes ->> 'in' = tank.code),
        'Tank Riders are on it'
      ),
      (lattice.distance(tank.q, tank.r, gun.q, gun.r) > 1, 'the Gun is not next to it'),
      (coalesce((tank.attributes ->> 'movement')::numeric < 5, false), 'it has not the 5 points')
    ) as fact (holds, why)
    where fact.holds
  );
  return query select * from unnest(bars);
  return query
  select '20.12', null, gun.label, 'adds', fact.note, null, null, 2, null::jsonb
  from (values (ground.terrain = 'woods', 'the Gun is in Woods'), (squad, 'a Squad is with the Gun')) as fact (holds, note)
  where fact.holds;
  return next row(
    '20.12', null, gun.label, case when cardinality(bars) > 0 then 'refused' else 'crushes' end,
    'on a modified 10 the Vehicle is lost', 'bob-25', null, null,
    jsonb_build_object(
      'added', (ground.terrain = 'woods')::integer + squad::integer,
      'exactly', state.readings ->> 'bob-25' = 'b',
      'cost', 5,
      'at', gun.label,
      'leaves', exists (
        select from unnest(pieces) as other
        where other.side = gun.side and other.code <> gun.code and other.q = gun.q and other.r = gun.r
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.crush(bigint, text, text, jsonb, jsonb) is
'Whether a Vehicle may crush a Gun, and what is added to its die; the verdict last.';

create or replace function bob.clear(
  position_id bigint, unit text, what text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  piece bob.piece;
  bars rulings.ledger_step[];
  sides jsonb;
  wire jsonb;
begin
  select * into state from positions.state(clear.position_id, clear.conditions, clear.policy);
  select * into piece from bob._pieces(clear.position_id) as found where found.code = clear.unit;
  select jsonb_agg(positions.side_label(here.label, there.label) order by there.label) into sides
  from public.hexside
  inner join public.hex as here on here.map_id = state.map_id and here.q = piece.q and here.r = piece.r
  inner join public.hex as there
    on there.map_id = state.map_id and there.q = hexside.x - here.q and there.r = hexside.y - here.r
  where hexside.map_id = state.map_id
    and hexside.kind = 'roadblock'
    and lattice.distance(here.q, here.r, there.q, there.r) = 1
    and not exists (
      select from public.position
      where position.id = clear.position_id
        and position.tracks -> 'hexes' -> positions.side_label(here.label, there.label) ->> 'roadblock' = 'cleared'
    );
  select marker.attributes into wire
  from public.marker
  where marker.position_id = clear.position_id and marker.kind = 'wire' and marker.q = piece.q and marker.r = piece.r
  limit 1;
  bars := array(
    select row(fact.rule, null, piece.label, 'forbids', fact.why, fact.point, piece.code, null, null)::rulings.ledger_step
    from (
      values
      (not piece.infantry, '43.7', 'only Infantry clears anything', null),
      (
        piece.kind = 'wt' and clear.what = 'roadblock',
        '43.7', 'only a Squad clears a Roadblock', null
      ),
      (
        piece.kind = 'wt' and clear.what = 'wire' and state.readings ->> 'bob-41' = 'b',
        '43.6', 'only a Squad clears Wire', 'bob-41'
      ),
      (piece.melee, '43.7', 'it is in Melee', null),
      (bob._flag(piece, 'used') or bob._flag(piece, 'op_fire'), '4.2', 'it has been Used', null),
      (piece.attributes ? 'moving', '43.7', 'it takes the whole allowance', null),
      (clear.what = 'roadblock' and sides is null, '43.7', 'no side of its hex is blocked', null),
      (clear.what = 'wire' and wire is null, '43.6', 'there is no Wire in its hex', null)
    ) as fact (holds, rule, why, point)
    where fact.holds
  );
  return query select * from unnest(bars);
  return next row(
    case clear.what when 'wire' then '43.6' else '43.7' end, null, piece.label,
    case when cardinality(bars) > 0 then 'refused' else 'clears' end, 'it takes the whole movement allowance',
    case when clear.what = 'wire' and piece.kind = 'wt' then 'bob-41' end, piece.code, null,
    jsonb_build_object(
      'at', piece.label, 'sides', sides, 'wire', wire,
      'cost', coalesce((piece.attributes ->> 'movement')::numeric, case piece.kind when 'wt' then 4 else 5 end)
        - case when state.conditions ->> 'weather' = 'snow' then 1 else 0 end
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.clear(bigint, text, text, jsonb, jsonb) is
'Whether a unit may clear the Wire or a Roadblock of its hex, and what it costs; the verdict last.';
