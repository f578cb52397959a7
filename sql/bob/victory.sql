-- needs: bob/control.sql, rulings/step.sql
-- Victory in bob (Band of Brothers): 17.0, 18.0. What is wanted is the scenario's: the condition `victory`.

create or replace function bob._remains(position_id bigint, side text)
returns table (real_units integer, decoys integer, lost integer)
language sql stable rows 1
as $$
  select
    count(*) filter (where unit.q is not null and coalesce(unit.kind, 'squad') <> 'decoy')::integer,
    count(*) filter (where unit.q is not null and unit.kind = 'decoy')::integer,
    count(*) filter (
      where unit.attributes ->> 'status' = 'eliminated' and coalesce(unit.kind, 'squad') <> 'decoy'
    )::integer
  from public.unit
  where unit.position_id = _remains.position_id
    and unit.side = _remains.side
    and coalesce(unit.kind, 'squad') not in ('artillery', 'aircraft', 'illumination', 'satt')
$$;

comment on function bob._remains(bigint, text) is
'Units of a side that are left on the map, Decoys apart, and those that are eliminated (18.0).';

create or replace function bob.victory(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(victory.position_id) as piece);
  wants jsonb;
  held jsonb;
  sides text[];
  rival text;
  foe record;
  credit integer;
  met boolean := true;
  over boolean;
begin
  select * into state from positions.state(victory.position_id, victory.conditions, victory.policy);
  wants := state.conditions -> 'victory';
  sides := array(
    select distinct unit.side from public.unit where unit.position_id = victory.position_id order by unit.side
  );
  select coalesce(jsonb_object_agg(counted.side, counted.n), '{}') into held
  from (
    select control.side, count(*) as n
    from public.marker
    inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
    cross join lateral bob._controller(victory.position_id, pieces, hex.q, hex.r, hex.label) as control
    where marker.position_id = victory.position_id and marker.kind = 'victory'
    group by control.side
  ) as counted;
  return query
  select
    '18.0', null, hex.label, coalesce(control.side, 'nobody'), 'a Victory marker', null, null, null::integer, null::jsonb
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  left join lateral bob._controller(victory.position_id, pieces, hex.q, hex.r, hex.label) as control on true
  where marker.position_id = victory.position_id and marker.kind = 'victory'
  order by hex.label;
  over := coalesce((state.conditions ->> 'turn')::integer > (state.conditions ->> 'turns')::integer, false)
    or coalesce((state.conditions ->> 'turn')::integer = (state.conditions ->> 'turns')::integer
      and state.conditions ->> 'phase' = 'recovery', false);
  if wants is null then
    return next row(
      '18.0', null, null, 'unknown', 'what the scenario wants', null, null, null,
      jsonb_build_object('winner', null, 'markers', held, 'over', over)
    )::rulings.ledger_step;
    return;
  end if;
  rival := coalesce(
    wants ->> 'eliminate',
    (select side.name from unnest(sides) as side (name) where side.name <> wants ->> 'side' limit 1)
  );
  if wants ? 'markers' then
    met := coalesce((held ->> (wants ->> 'side'))::integer, 0) >= (wants ->> 'markers')::integer;
    return next row(
      '18.0', null, null, case when met then 'met' else 'missing' end,
      format('%s of %s Victory markers', coalesce(held ->> (wants ->> 'side'), '0'), wants ->> 'markers'), null, null, null, null
    )::rulings.ledger_step;
  end if;
  select * into foe from bob._remains(victory.position_id, rival);
  if wants ? 'eliminate' and not wants ? 'losses' then
    -- 18.0: Decoys alone are no side
    met := met and foe.real_units = 0;
    return next row(
      '18.0', null, null, case when foe.real_units = 0 then 'met' else 'missing' end,
      case
        when foe.real_units > 0 then format('%s units of %s are left', foe.real_units, rival)
        when foe.decoys > 0 then format('nothing but Decoys is left of %s', rival)
        else format('nothing is left of %s', rival)
      end, null, null, null, null
    )::rulings.ledger_step;
    over := over or foe.real_units = 0;
  elsif wants ? 'losses' then
    -- 17.0: credit for a unit that came back is kept
    credit := foe.lost + coalesce((bob._of_side(state, wants ->> 'side', 'credits'))::integer, 0);
    met := met and credit >= (wants ->> 'losses')::integer;
    return next row(
      '17.0', null, null, case when credit >= (wants ->> 'losses')::integer then 'met' else 'missing' end,
      format('%s of %s units eliminated, those counted that came back', credit, wants ->> 'losses'), null, null, 2 * credit, null
    )::rulings.ledger_step;
  end if;
  return next row(
    '18.0', null, null, case when met then 'met' else 'missing' end,
    case when met then 'it has what the scenario wants' else 'it has not what the scenario wants' end, null, wants ->> 'side', null,
    jsonb_build_object(
      'winner', case when met and (over or wants ? 'losses') then wants ->> 'side' when over then rival end,
      'met', met, 'markers', held, 'over', over
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.victory(bigint, jsonb, jsonb) is
'Who has won: Victory markers by control, eliminations without Decoys and with credits; the verdict last.';
