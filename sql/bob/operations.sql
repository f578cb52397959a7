-- needs: bob/pieces.sql, bob/units.sql, rulings/step.sql
-- Operations Ranges of bob (Band of Brothers): 4.0 to 4.3, 20.0, 21.1, 22.0, 32.0, 35.0, 50.1, 59.4, 3.0 (2), bob-43.

drop type if exists bob.recruit cascade;
create type bob.recruit as (
  code text,
  side text,
  kind text,
  asset boolean,
  onboard boolean,
  available boolean,
  concealed boolean,
  mounted_in text,
  attributes jsonb
);

comment on type bob.recruit is
'A unit or asset as it may be selected in an Operations Range; available: neither Used nor marked Op Fire.';

create or replace function bob._recruits(position_id bigint)
returns setof bob.recruit
language sql stable rows 20
as $$
  select
    unit.code,
    unit.side,
    coalesce(unit.kind, 'squad'),
    coalesce(unit.kind in ('artillery', 'aircraft', 'illumination', 'satt'), false),
    unit.q is not null,
    not coalesce((unit.attributes ->> 'used')::boolean, false)
    and not coalesce((unit.attributes ->> 'op_fire')::boolean, false)
    and unit.attributes ->> 'status' is null,
    coalesce((unit.attributes ->> 'concealed')::integer, 0) > 0,
    unit.attributes ->> 'in',
    unit.attributes
  from public.unit
  where unit.position_id = _recruits.position_id
  order by unit.id
$$;

comment on function bob._recruits(bigint) is
'Every unit and asset of a position, in the order in which they were set up.';

create or replace function bob._counts(recruits bob.recruit[], recruit bob.recruit, manner text)
returns table (rule text, note text, counts integer)
language sql immutable rows 1
as $$
  select fact.rule, fact.note, fact.counts
  from (
    values
    (recruit.kind = 'satt', '59.4', 'a SATT does not count', 0),
    (
      recruit.kind = 'carrier', '21.1', 'a Carrier counts nothing, its passengers count', (
        select coalesce(sum(case when rider.kind in ('gun', 'vehicle') then 3 else 1 end), 0)::integer
        from unnest(recruits) as rider
        where rider.mounted_in = recruit.code
      )
    ),
    (
      recruit.mounted_in is not null and exists (
        select from unnest(recruits) as craft
        where craft.code = recruit.mounted_in and craft.attributes ? 'landing_craft'
      ),
      '21.1', 'all in a Landing Craft are selected together', (
        select coalesce(sum(case when rider.kind in ('gun', 'vehicle') then 3 else 1 end), 0)::integer
        from unnest(recruits) as rider
        where rider.mounted_in = recruit.mounted_in
      )
    ),
    (
      recruit.concealed and recruit.kind in ('gun', 'vehicle') and coalesce(manner, 'used') in ('used', 'op_fire', 'mark'),
      '4.1', 'it begins and ends its Use Concealed', 1
    ),
    (recruit.kind in ('gun', 'vehicle'), '20.0', 'Guns and Vehicles count three', 3),
    (recruit.kind = 'artillery', '32.0', 'Artillery counts three', 3),
    (recruit.kind = 'aircraft', '35.0', 'Aircraft count three', 3),
    (recruit.kind = 'illumination', '50.1', 'it counts one', 1),
    (true, '4.1', 'it counts one', 1)
  ) as fact (holds, rule, note, counts)
  where fact.holds
  limit 1
$$;

comment on function bob._counts(bob.recruit[], bob.recruit, text) is
'What a unit or asset counts against the Operations Range when it is Used in a manner (4.1, 20.0, 21.1, 59.4).';

create or replace function bob._left_over(recruits bob.recruit[], side text, besides text, room integer)
returns table (units integer, fitting integer, asset_fits boolean)
language sql immutable rows 1
as $$
  select
    count(*) filter (where not rest.asset)::integer,
    count(*) filter (where not rest.asset and (room is null or least_count.n <= room))::integer,
    coalesce(bool_or(rest.asset and (room is null or least_count.n <= room)), false)
  from unnest(recruits) as rest
  cross join lateral (
    select counted.counts as n from bob._counts(recruits, rest, null) as counted
  ) as least_count
  where rest.side = _left_over.side
    and rest.available
    and (rest.onboard or (rest.asset and rest.kind <> 'satt'))
    and rest.code is distinct from besides
    and rest.mounted_in is null
$$;

comment on function bob._left_over(bob.recruit[], text, text, integer) is
'Units of a side that are not Used yet, those of them that fit into what is left of its Range, and whether an asset does.';

create or replace function bob._due(position_id bigint, side text)
returns bob.recruit
language sql stable
as $$
  -- 16.2: who was placed from the cup in this Range, until it is Used or marked Op Fire
  select recruit
  from public.position
  cross join lateral bob._recruits(position.id) as recruit
  where position.id = _due.position_id
    and recruit.code = position.tracks -> _due.side ->> 'fow_due'
    and recruit.onboard
    and recruit.available
$$;

comment on function bob._due(bigint, text) is
'The unit of a side that was placed from the FOW cup in its own Range and has still to be Used in it (16.2).';

create or replace function bob.range_state(position_id bigint, side text, besides text, conditions jsonb default null)
returns table (
  spent integer, fewest integer, most integer, units integer, fitting integer, asset_fits boolean, due text
)
language sql stable rows 1
as $$
  select
    told.spent,
    told.fewest,
    told.most,
    rest.units,
    rest.fitting,
    rest.asset_fits,
    (bob._due(range_state.position_id, range_state.side)).code
  from (
    select
      coalesce((bob._of_side(state, range_state.side, 'spent'))::integer, 0) as spent,
      (state.conditions -> 'operations_range' -> range_state.side ->> 0)::integer as fewest,
      (state.conditions -> 'operations_range' -> range_state.side ->> 1)::integer as most
    from positions.state(range_state.position_id, range_state.conditions) as state
  ) as told
  cross join lateral bob._left_over(
    array(select recruit from bob._recruits(range_state.position_id) as recruit), range_state.side, range_state.besides,
    told.most - told.spent
  ) as rest
$$;

comment on function bob.range_state(bigint, text, text, jsonb) is
'How far a side is in its Operations Range: spent, least, most, and what of it is left to be Used.';

create or replace function bob.activate(
  position_id bigint, unit text, manner text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
declare
  state positions.state;
  recruits bob.recruit[] := array(select recruit from bob._recruits(activate.position_id) as recruit);
  recruit bob.recruit;
  counted record;
  spent integer;
  fewest integer;
  most integer;
  ahead boolean;
  rest record;
  bars rulings.ledger_step[];
  total integer;
  due bob.recruit;
  reserved integer := 0;
begin
  select * into state from positions.state(activate.position_id, activate.conditions, activate.policy);
  perform positions._asked_counter(activate.position_id, activate.unit);
  select * into recruit from unnest(recruits) as found where found.code = activate.unit;
  select * into counted from bob._counts(recruits, recruit, activate.manner);
  spent := coalesce((bob._of_side(state, recruit.side, 'spent'))::integer, 0);
  fewest := (state.conditions -> 'operations_range' -> recruit.side ->> 0)::integer;
  most := (state.conditions -> 'operations_range' -> recruit.side ->> 1)::integer;
  -- 3.0 (2): before the first player, for a Command Point; bob-43: outside every Range, or in his first
  ahead := coalesce(state.conditions ->> 'phase' = 'start', false);
  total := spent + case when ahead and state.readings ->> 'bob-43' = 'a' then 0 else counted.counts end;
  due := bob._due(activate.position_id, recruit.side);
  if due.code <> recruit.code then
    reserved := (select one.counts from bob._counts(recruits, due, null) as one);
  end if;
  return next row(
    counted.rule, null, null, 'counts', counted.note,
    case when ahead then 'bob-43' end, recruit.code, 2 * counted.counts, null
  )::rulings.ledger_step;
  bars := array(
    select row(fact.rule, null, null, 'forbids', fact.why, null, recruit.code, null, null)::rulings.ledger_step
    from (
      values
      (coalesce((recruit.attributes ->> 'used')::boolean, false), '4.2', 'it is Used already'),
      (
        coalesce((recruit.attributes ->> 'op_fire')::boolean, false) and coalesce(activate.manner, '') <> 'op_fire',
        '4.3', 'it is marked Op Fire'
      ),
      (
        coalesce((recruit.attributes ->> 'op_fire')::boolean, false) and activate.manner = 'op_fire',
        '4.3', 'it is marked Op Fire already'
      ),
      (
        recruit.side <> coalesce(state.conditions ->> 'active', recruit.side) and not ahead,
        '4.0', 'it is the other side''s Operations Range'
      ),
      (
        ahead and recruit.side = state.conditions ->> 'first',
        '3.0', 'only the player who moves second acts before the first'
      ),
      (
        ahead and coalesce((bob._of_side(state, recruit.side, 'cps'))::integer, 1) < 1,
        '3.0', 'it takes a Command Point, and none is left'
      ),
      (total > most, '4.1', format('%s and %s would be more than %s', spent, counted.counts, most)),
      (
        reserved > 0 and total <= most and total + reserved > most,
        '16.2', format('%s, placed from the cup, has to be Used in this Range', due.code)
      ),
      (
        coalesce(state.conditions ->> 'phase', 'operations') not in ('start', 'operations'),
        '4.0', 'units are selected in the Operations Phase'
      ),
      (
        recruit.kind in ('aircraft', 'illumination', 'decoy') and activate.manner = 'fire' and recruit.kind = 'decoy',
        '15.0', 'a Decoy does not fire'
      ),
      (recruit.kind = 'aircraft' and activate.manner = 'op_fire', '35.0', 'Aircraft are not marked Op Fire'),
      (recruit.kind = 'gun' and activate.manner = 'move', '20.2', 'a Gun does not move by itself')
    ) as fact (holds, rule, why)
    where fact.holds
  );
  return query select * from unnest(bars);
  if cardinality(bars) > 0 then
    total := spent;
  end if;
  select * into rest
  from bob._left_over(recruits, recruit.side, case when cardinality(bars) = 0 then recruit.code end, most - total);
  return next row(
    '4.1', null, null, case when cardinality(bars) > 0 then 'refused' else 'allowed' end,
    case
      when most is null then 'no Operations Range is told'
      else format('%s of %s to %s', total, fewest, most)
    end,
    null, recruit.code, 2 * total,
    jsonb_build_object(
      'side', recruit.side,
      'counts', counted.counts,
      'spent', total,
      'left', most - total,
      'must_pass', most is not null and rest.fitting = 0 and not rest.asset_fits,
      'may_pass', (coalesce(total >= fewest, true) or rest.fitting = 0) and reserved = 0
        and (due.code is null or cardinality(bars) = 0),
      'ahead', ahead,
      'units_left', rest.units
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.activate(bigint, text, text, jsonb, jsonb) is
'Whether a unit or asset may be Used now, what it counts, and how far its side is in its Range; the verdict last.';

create or replace function bob.unseen(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.step
language plpgsql stable rows 1
as $$
declare
  watcher record;
begin
  for watcher in
    select enemy.code, enemy.label
    from bob._pieces(unseen.position_id) as own
    inner join bob._pieces(unseen.position_id) as enemy on enemy.side <> own.side and not enemy.mounted
    where own.code = unseen.unit
    order by lattice.distance(own.q, own.r, enemy.q, enemy.r), enemy.id
  loop
    if exists (
      select
      from bob.los(
        unseen.position_id, 'unit:' || watcher.code, 'unit:' || unseen.unit, unseen.conditions, unseen.policy
      ) as line
      where line.effect = 'visible'
    ) then
      return next row('15.0', null, watcher.label, 'seen', format('%s sees it', watcher.code), null)::rulings.step;
      return;
    end if;
  end loop;
end
$$;

comment on function bob.unseen(bigint, text, jsonb, jsonb) is
'The nearest enemy that sees a unit, as the only row; no row where it is outside the sight of all (15.0).';
