-- needs: bob/pieces.sql, rulings/step.sql
-- The Recovery Phase of bob (Band of Brothers): 13.0, 48.0, 50.1, 51.2, 61.1, 64.1, 65.1, bob-39.

create or replace function bob._recovering_steps(pieces bob.piece[])
returns setof rulings.ledger_step
language sql immutable rows 10
as $$
  select
    '13.0',
    null,
    piece.label,
    case
      when piece.melee then 'stays'
      when piece.attributes ->> 'suppression' = 'full' then 'suppressed'
      else 'none'
    end,
    case when piece.melee then 'still in Melee' else 'a step of Suppression' end,
    null,
    piece.code,
    null::integer,
    null::jsonb
  from unnest(pieces) as piece
  where piece.attributes ->> 'suppression' in ('full', 'suppressed')
$$;

comment on function bob._recovering_steps(bob.piece[]) is
'Units that are Suppressed: what becomes of it (13.0).';

create or replace function bob._lifted_steps(position_id bigint)
returns setof rulings.ledger_step
language sql stable rows 5
as $$
  select
    case marker.kind when 'illumination' then '50.1' when 'ambush' then '51.2' when 'sustained_fire' then '61.1' else '48.0' end,
    null,
    hex.label,
    case marker.kind when 'smoke' then 'disperses' else 'removed' end,
    replace(marker.kind, '_', ' '),
    null,
    marker.kind,
    null::integer,
    to_jsonb(marker.attributes)
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = _lifted_steps.position_id
    and marker.kind in ('dispersed_smoke', 'smoke', 'illumination', 'ambush', 'sustained_fire')
  -- what is Dispersed goes before Smoke flips
  order by marker.kind = 'smoke', marker.kind, hex.label
$$;

comment on function bob._lifted_steps(bigint) is
'Markers that are taken off or flipped as a turn ends (13.0, 48.0, 50.1, 51.2, 61.1).';

create or replace function bob._fatigue_steps(state positions.state, pieces bob.piece[])
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    '64.1',
    null,
    null,
    'adds',
    format('company %s of the Attacker has a unit on the board', held.company),
    'bob-39',
    held.company,
    -- bob-39 b: the point of 65.1 comes on top
    case when state.readings ->> 'bob-39' = 'b' then 4 else 2 end,
    null::jsonb
  from (
    select distinct piece.attributes ->> 'company' as company
    from unnest(pieces) as piece
    where piece.side = state.conditions ->> 'attacker'
      and piece.attributes ? 'company'
      and not piece.gun
      and not piece.vehicle
  ) as held
  where state.conditions ? 'attacker'
  order by held.company
$$;

comment on function bob._fatigue_steps(positions.state, bob.piece[]) is
'Fatigue that the companies of the Attacker take in a Recovery Phase (64.1, 65.1, bob-39).';

create or replace function bob.recover(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(recover.position_id) as piece);
begin
  select * into state from positions.state(recover.position_id, recover.conditions, recover.policy);
  return query select * from bob._recovering_steps(pieces);
  return query select * from bob._lifted_steps(recover.position_id);
  return query select * from bob._fatigue_steps(state, pieces);
  return next row(
    '13.0', null, null, 'recovered', 'the turn is over', null, null, null,
    jsonb_build_object(
      'turn', state.conditions -> 'turn',
      'over', coalesce((state.conditions ->> 'turn')::integer >= (state.conditions ->> 'turns')::integer, false)
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.recover(bigint, jsonb, jsonb) is
'What a Recovery Phase does: Suppression, markers, Fatigue; the verdict last.';
