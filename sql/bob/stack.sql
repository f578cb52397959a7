-- needs: bob/pieces.sql, positions/place.sql, rulings/step.sql
-- Stacking in bob (Band of Brothers): 2.0, 20.10, 21.1, 43.4, and the contested points bob-1, bob-44, bob-45.

create or replace function bob._stack_bars(kinds text[], location text, foes boolean, readings jsonb)
returns table (rule text, over integer, why text, point text)
language sql immutable rows 1
as $$
  with held as (
    select
      count(*) filter (where kind in ('squad', 'wt', 'gun')) as foot,
      count(*) filter (where kind = 'decoy') as decoys,
      count(*) filter (where kind = 'gun') as guns,
      count(*) filter (where kind in ('vehicle', 'carrier')) as vehicles
    from unnest(kinds) as kind
  )
  select
    fact.rule,
    fact.over::integer,
    fact.why,
    fact.point
  from held
  cross join lateral (
    values
    (
      1, location <> 'cave', '2.0',
      -- bob-44: whether Decoys count
      held.foot + case when readings ->> 'bob-44' = 'b' then 0 else held.decoys end - 2,
      'more than two Squads, WTs and Guns of a side in a location', case when held.decoys > 0 then 'bob-44' end
    ),
    (2, location = 'cave', '43.4', held.foot + held.decoys - 1, 'more than one Infantry unit or Gun in a Cave', null),
    (3, true, '20.10', held.guns - 1, 'more than one Gun in a hex', null),
    (4, true, '20.10', held.vehicles - 1, 'more than one Vehicle in a hex', null),
    (
      5, held.guns > 0 and held.vehicles > 0, '20.10',
      case when readings ->> 'bob-1' = 'b' then 0 else 1 end, 'a Vehicle and a Gun in a hex', 'bob-1'
    ),
    (6, held.vehicles > 0 and foes, '20.10', 1, 'a Vehicle in the hex of an enemy Infantry unit or Gun', null)
  ) as fact (n, holds, rule, over, why, point)
  where fact.holds
    and (fact.over > 0 or fact.point is not null)
  order by fact.n
$$;

comment on function bob._stack_bars(text[], text, boolean, jsonb) is
'What is too much of these units of a side in one location, by how many; `over` of 0 where a contested point lets it pass.';

create or replace function bob._standing(pieces bob.piece[], side text, q integer, r integer, location text, besides text)
returns text[]
language sql immutable
return array(
  select piece.kind
  from unnest(pieces) as piece
  where piece.side = _standing.side
    and piece.q = _standing.q
    and piece.r = _standing.r
    and not piece.mounted
    and piece.code is distinct from _standing.besides
    and (piece.location = _standing.location or piece.vehicle)
  order by piece.id
);

comment on function bob._standing(bob.piece[], text, integer, integer, text, text) is
'The kinds of units of a side in a location, without one of them; passengers do not count (21.1).';

create or replace function bob._foes(pieces bob.piece[], side text, q integer, r integer, location text)
returns boolean
language sql immutable
return exists (
  select
  from unnest(pieces) as piece
  where piece.side <> _foes.side
    and piece.q = _foes.q
    and piece.r = _foes.r
    and piece.location = _foes.location
    and not piece.mounted
    and (piece.infantry or piece.gun)
);

comment on function bob._foes(bob.piece[], text, integer, integer, text) is
'Whether an enemy Squad, WT or Gun is in a location.';

create or replace function bob.stack(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(stack.position_id) as piece);
  place record;
  steps rulings.ledger_step[];
  over integer;
begin
  select * into state from positions.state(stack.position_id, stack.conditions, stack.policy);
  select found.q, found.r, cell.label into place
  from positions.place(stack.position_id, stack.hex) as found
  inner join public.hex as cell on cell.map_id = state.map_id and cell.q = found.q and cell.r = found.r;
  if place.q is null then
    raise exception 'there is no hex % on the map', stack.hex using errcode = 'no_data_found';
  end if;
  steps := array(
    select
      row(
        bar.rule, null, place.label, case when bar.over > 0 then 'forbids' else 'allows' end,
        format('%s: %s', held.side, bar.why), bar.point, null, 2 * bar.over, null
      )::rulings.ledger_step
    from (
      select distinct piece.side, piece.location
      from unnest(pieces) as piece
      where piece.q = place.q and piece.r = place.r and not piece.mounted
    ) as held
    cross join lateral bob._stack_bars(
      bob._standing(pieces, held.side, place.q, place.r, held.location, null),
      held.location,
      bob._foes(pieces, held.side, place.q, place.r, held.location),
      state.readings
    ) as bar
    order by held.side, held.location
  );
  select coalesce(sum(greatest(step.halves, 0)) / 2, 0) into over from unnest(steps) as step;
  return query select * from unnest(steps);
  return next row(
    '2.0', null, place.label, case when over > 0 then 'illegal' else 'legal' end,
    case when over > 0 then 'too many stand together' else 'they may stand together' end, null, null, 2 * over,
    jsonb_build_object(
      'over', over,
      'why', (select string_agg(step.note, '; ') from unnest(steps) as step where step.effect = 'forbids')
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.stack(bigint, text, jsonb, jsonb) is
'Whether the units of a hex may stand together at the end of a move, location by location; the verdict last.';
