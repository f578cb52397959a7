-- needs: bob/pieces.sql, positions/place.sql, rulings/step.sql
-- Melee in bob (Band of Brothers): 12.0 to 12.2, 20.8, 51.2, 57.4, 58.2, 59.1, 59.5, 59.6, bob-4.

create or replace function bob._melee_steps(state positions.state, piece bob.piece)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with counter as (
    select
      bob._flag(piece, 'reduced') as reduced,
      case when bob._flag(piece, 'reduced') then piece.attributes -> 'back' end as back
  ),
  base as (
    select
      case
        when piece.gun then 2
        when coalesce(counter.back ->> 'melee_fp', piece.attributes ->> 'melee_fp') is not null
          and (piece.kind <> 'wt' or counter.back is null or counter.back ? 'melee_fp')
          then coalesce(counter.back ->> 'melee_fp', piece.attributes ->> 'melee_fp')::integer
        -- bob-4: a WT by its kind, or by its Normal FP
        when piece.kind = 'wt' and state.readings ->> 'bob-4' <> 'b' then case when counter.reduced then 1 else 2 end
        else coalesce(counter.back -> 'fp' ->> 0, piece.attributes -> 'fp' ->> 0)::integer
      end as fp,
      case
        when piece.gun then '20.8'
        when piece.attributes ? 'melee_fp' then case
          when bob._flag(piece, 'ss') then '57.4'
          when piece.nation = 'us' then '58.2'
          when piece.nation = 'japan' then '59.1'
          else '12.0'
        end
        when piece.kind = 'wt' then '2.0'
        else '12.0'
      end as rule,
      case
        when piece.gun then 'a Gun fights as a full-strength Weapon Team'
        when coalesce(counter.back ->> 'melee_fp', piece.attributes ->> 'melee_fp') is not null then 'its Melee FP'
        when piece.kind = 'wt' and state.readings ->> 'bob-4' <> 'b' then 'a Weapon Team in Melee'
        else 'its Normal FP'
      end as note,
      case when piece.kind = 'wt' and not piece.attributes ? 'melee_fp' then 'bob-4' end as point
    from counter
  )
  select
    fact.rule,
    null,
    piece.label,
    fact.effect,
    fact.note,
    fact.point,
    piece.code,
    fact.halves,
    null::jsonb
  from base
  cross join lateral (
    values
    (1, true, base.rule, case when base.fp is null then 'unknown' else 'fp' end,
      case when base.fp is null then 'the Melee FP of ' || piece.code else base.note end, base.point, 2 * base.fp),
    (2, bob._flag(piece, 'flank'), '12.2', 'adds', 'it came through their flank', null, 2),
    (3, bob._flag(piece, 'ambush'), '51.2', 'adds', 'it lay in ambush', null, 4),
    (
      4, coalesce(piece.attributes ->> 'declared' = 'seishin' or (piece.attributes -> 'moving' ->> 'seishin')::boolean, false),
      '59.5', 'adds', 'Seishin', null, 4
    ),
    (
      5, coalesce(piece.attributes ->> 'declared' = 'banzai' or (piece.attributes -> 'moving' ->> 'banzai')::boolean, false),
      '59.6', 'adds', 'a Banzai Charge', null, 4
    )
  ) as fact (n, holds, rule, effect, note, point, halves)
  where fact.holds
  order by fact.n
$$;

comment on function bob._melee_steps(positions.state, bob.piece) is
'The Melee FP of a unit, and what raises it (12.0, 12.2, 51.2, 59.5, 59.6).';

create or replace function bob.melee(
  position_id bigint, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
declare
  state positions.state;
  fighters bob.piece[];
  steps rulings.ledger_step[];
  place record;
  first text;
begin
  select * into state from positions.state(melee.position_id, melee.conditions, melee.policy);
  select found.q, found.r, coalesce(unit.attributes, '{}') as attributes, cell.label into place
  from positions.place(melee.position_id, melee.at) as found
  inner join public.hex as cell on cell.map_id = state.map_id and cell.q = found.q and cell.r = found.r
  left join public.unit on unit.id = found.unit;
  if place.q is null then
    raise exception 'there is no hex % on the map', melee.at using errcode = 'no_data_found';
  end if;
  -- where nobody is told to be first, the side whose unit the file names first is
  first := coalesce(
    state.conditions ->> 'first',
    (
      select piece.side from bob._pieces(melee.position_id) as piece
      where piece.q = place.q and piece.r = place.r and piece.melee order by piece.id limit 1
    )
  );
  fighters := array(
    select piece from bob._pieces(melee.position_id) as piece
    where piece.q = place.q and piece.r = place.r and piece.melee
    -- the first player's before the other's, each in the order of the file
    order by piece.side is distinct from first, piece.id
  );
  steps := array(
    select step
    from unnest(fighters) with ordinality
      as piece (id, code, side, nation, kind, q, r, label, location, infantry, gun, vehicle, decoy, mounted, melee, concealed, attributes, n)
    cross join lateral bob._melee_steps(
      state,
      row(
        piece.id, piece.code, piece.side, piece.nation, piece.kind, piece.q, piece.r, piece.label, piece.location, piece.infantry,
        piece.gun, piece.vehicle, piece.decoy, piece.mounted, piece.melee, piece.concealed, piece.attributes
      )::bob.piece
    ) as step
    order by piece.n
  );
  return query select * from unnest(steps);
  return next row(
    '12.0', null, place.label,
    case
      when cardinality(fighters) = 0 then 'no melee'
      when exists (select from unnest(steps) as step where step.effect = 'unknown') then 'unknown'
      else 'fight'
    end,
    case
      when cardinality(fighters) = 0 then 'there is no Melee in ' || place.label
      else 'each rolls two dice; each die of its Melee FP or less takes a step'
    end,
    null, null, null,
    jsonb_build_object(
      'values', (
        select coalesce(jsonb_object_agg(told.by, told.value), '{}')
        from (
          select step.by, case when bool_and(step.halves is not null) then sum(step.halves) / 2 end as value
          from unnest(steps) as step
          group by step.by
        ) as told
      ),
      'fighters', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'unit', fighter.code, 'side', fighter.side, 'kind', fighter.kind, 'company', fighter.attributes ->> 'company',
              'reduced', bob._flag(fighter, 'reduced'), 'ambush', bob._flag(fighter, 'ambush'), 'cp', bob._flag(fighter, 'cp')
            )
          ), '[]'
        )
        from unnest(fighters) as fighter
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.melee(bigint, text, jsonb, jsonb) is
'Who fights in the Melee of a hex, in the order in which they roll, and with what FP: a row for every rule, the verdict last.';

create or replace function bob.melees(position_id bigint)
returns table (label text)
language sql stable rows 3
as $$
  select distinct piece.label
  from bob._pieces(melees.position_id) as piece
  where piece.melee
  order by piece.label
$$;

comment on function bob.melees(bigint) is
'The hexes in which a Melee is to be fought (12.0).';
