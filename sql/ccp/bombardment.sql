-- needs: ccp/fire.sql
-- Attacks without a firing piece in ccp: artillery, aircraft and mines, and what they fall upon: O24.3 to O24.5, O24.7, F104.2, 19.1.

create or replace function ccp._near_melee(state positions.state, q integer, r integer, within integer)
returns boolean
language sql stable
as $$
  select exists (
    select
    from ccp._stats(state) as stat
    where stat.melee and lattice.distance(stat.q, stat.r, _near_melee.q, _near_melee.r) <= within
  )
$$;

comment on function ccp._near_melee(positions.state, integer, integer, integer) is
'Whether a hex is a melee hex, or so near to one (19.1).';

create or replace function ccp._spotter_bars(state positions.state, leader ccp.stat, illuminates boolean)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, leader.label, 'forbids', entry.note, null, leader.code, null::integer, null::jsonb
  from (
    values
    (
      1, leader.kind not in ('leader', 'hero', 'scout', 'sogeki_hei'), case when illuminates then 'O24.7' else 'O24.3' end,
      format('%s is no leader', leader.code)
    ),
    (
      2, coalesce((leader.attributes ->> 'broken')::boolean, false), case when illuminates then 'O24.7' else 'O24.3' end,
      format('%s is broken', leader.code)
    ),
    (
      3, coalesce((leader.attributes ->> 'suppressed')::boolean, false),
      case when illuminates then 'O24.7' else 'O24.3' end, format('%s is suppressed', leader.code)
    ),
    (
      4, leader.kind <> 'hero' and leader.attributes ->> 'activated' <> 'asset_request', 'O20.2',
      format('%s was activated in this turn', leader.code)
    ),
    (
      5, state.conditions ->> 'active' <> leader.side, 'O20.1', 'an order is given in the own turn'
    ),
    (
      6,
      not illuminates and (
        state.conditions -> 'radio' -> leader.side is null
        or jsonb_typeof(state.conditions -> 'radio' -> leader.side) = 'null'
      ),
      'O24', 'the side has no radio'
    ),
    (
      7, not illuminates and (state.conditions -> 'radio' -> leader.side ->> 'broken')::boolean, 'O24',
      'its radio is broken'
    ),
    (
      8, illuminates and not coalesce((state.conditions ->> 'night')::boolean, false), 'O24',
      'Illumination is for the night'
    )
  ) as entry (n, holds, rule, note)
  where entry.holds
  order by entry.n
$$;

comment on function ccp._spotter_bars(positions.state, ccp.stat, boolean) is
'Why a unit cannot spot for artillery or Illumination: itself, its radio, the hour (6, O24, O24.3, O24.7, O20, 18.5).';

create or replace function ccp.spotting(
  position_id bigint,
  by text,
  at text,
  illuminates boolean,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  seen positions.state;
  asked positions.counter := ccp._on_map(spotting.position_id, spotting.by);
  leader ccp.stat;
  place record;
  bars rulings.ledger_step[];
  banned boolean;
  empty boolean;
  hindrance integer := 0;
  visible boolean := true;
  away integer;
begin
  select * into state from positions.state(spotting.position_id, spotting.conditions, spotting.policy);
  select stat.* into leader from ccp._stats(state) as stat where stat.id = asked.id;
  select hex.q, hex.r, hex.label into place
  from positions.place(spotting.position_id, spotting.at) as found
  inner join public.hex on hex.map_id = state.map_id and hex.q = found.q and hex.r = found.r;
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', spotting.at using errcode = 'no_data_found';
  end if;
  away := lattice.distance(asked.q, asked.r, place.q, place.r);
  bars := array(select row(step.*)::rulings.ledger_step from ccp._spotter_bars(state, leader, spotting.illuminates) as step);
  banned := ccp._near_melee(state, place.q, place.r, 1);
  if banned then
    bars := bars || row(
      '19.1', null, place.label,
      case when spotting.illuminates and state.readings ->> 'ccp-28' = 'c' then 'passes' else 'forbids' end,
      'no spotting round is placed in or beside a melee hex', case when spotting.illuminates then 'ccp-28' end, null, null,
      null
    )::rulings.ledger_step;
  end if;
  -- ccp-28: the night as Hindrance of an Illumination round
  empty := not exists (
    select from public.unit
    where unit.position_id = state.position_id and unit.q = place.q and unit.r = place.r and unit.kind <> 'aircraft'
  );
  seen := state;
  if spotting.illuminates and (
    state.readings ->> 'ccp-28' = 'c' or (state.readings ->> 'ccp-28' = 'b' and empty)
  ) then
    seen.conditions := state.conditions - 'night';
  end if;
  if away > 0 then
    return query
    select step.rule, null::text, step.at, step.effect, step.note, step.point, null::text, null::integer, null::jsonb
    from ccp._sights(
      row(seen, asked.q, asked.r, asked.id, array[place.q], array[place.r], null)::ccp.sighting
    ) as step
    order by step.stage, step.n, step.rule, step.note;
    select bool_or(step.effect = 'visible'), coalesce(max(step.hindrance), 0) into visible, hindrance
    from ccp._sights(
      row(seen, asked.q, asked.r, asked.id, array[place.q], array[place.r], null)::ccp.sighting
    ) as step
    where step.stage = 4;
  end if;
  if spotting.illuminates and empty and away > 0 then
    return next row(
      'O24.7', null, place.label, 'night', 'the night Hindrance of an Illumination round', 'ccp-28', null, null, null
    )::rulings.ledger_step;
  end if;
  if not visible then
    bars := bars || row(
      'O24.3.1', null, place.label, 'forbids', format('%s does not see the hex', asked.code), null, null, null, null
    )::rulings.ledger_step;
  end if;
  return query select * from unnest(bars);
  return query
  select 'O24.3.2', null::text, place.label,
    case when bar.why is null then 'spotted' else 'refused' end, coalesce(bar.why, 'the spotting round is placed'), null::text,
    asked.code, null::integer,
    jsonb_build_object(
      'allowed', bar.why is null,
      'why', bar.why,
      'side', asked.side,
      'hex', place.label,
      'range', away,
      'hindrance', hindrance,
      'at_least', away + hindrance + 1,
      'fp', (state.conditions -> 'radio' -> asked.side ->> 'fp')::integer
    )
  from (select (select step.note from unnest(bars) as step where step.effect = 'forbids' limit 1) as why) as bar;
end
$$;

comment on function ccp.spotting(bigint, text, text, boolean, jsonb, jsonb) is
'Whether a leader may place a spotting round in a hex, for artillery or Illumination, and what its Accuracy roll must be
(O24.3.1, O24.3.2, O24.7).';

create or replace function ccp.blast(position_id bigint, sr text)
returns table (label text)
language sql stable rows 7
as $$
  select hex.label
  from public.position
  inner join public.hex as center on center.map_id = position.map_id and center.label = blast.sr
  inner join public.hex
    on hex.map_id = position.map_id and lattice.distance(center.q, center.r, hex.q, hex.r) <= 1
  where position.id = blast.position_id
    and (
      exists (
        select from public.unit
        where unit.position_id = position.id and unit.q = hex.q and unit.r = hex.r and unit.kind <> 'aircraft'
      )
      or exists (
        select
        from public.marker
        inner join ccp._fortifications() as fort on fort.kind = marker.kind
        where marker.position_id = position.id and marker.q = hex.q and marker.r = hex.r
      )
    )
  order by coalesce(lattice.direction(hex.q - center.q, hex.r - center.r), 0)
$$;

comment on function ccp.blast(bigint, text) is
'The hexes that artillery with its spotting round there must attack: its own and those beside it, with a unit or a
fortification in them (O24.3.3).';

create or replace function ccp.impact(
  position_id bigint,
  at text,
  source text,
  fp integer,
  viewer text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  place record;
  plane record;
  units ccp.stat[];
  total rulings.ledger_step[];
  fort text;
  downslope boolean := true;
  hindrance integer := 0;
  value integer;
begin
  select * into state from positions.state(impact.position_id, impact.conditions, impact.policy);
  select hex.q, hex.r, hex.label into place
  from public.hex where hex.map_id = state.map_id and hex.label = impact.at;
  units := array(
    select row(stat.*)::ccp.stat
    from ccp._stats(state) as stat
    where stat.q = place.q and stat.r = place.r and stat.kind <> 'aircraft'
    order by stat.id
  );
  select unit.id, unit.q, unit.r into plane
  from public.unit where unit.position_id = state.position_id and unit.code = impact.viewer;
  if plane.id is not null and exists (select from unnest(units) as one where ccp._is_inside(one)) then
    downslope := ccp._sees(
      state, plane.id, plane.q, plane.r, (select min(one.id) from unnest(units) as one where ccp._is_inside(one)), place.q,
      place.r
    );
  end if;
  if impact.source = 'fighter' then
    select coalesce(max(step.hindrance), 0) into hindrance
    from ccp._sights(
      row(state, plane.q, plane.r, plane.id, array[place.q], array[place.r], null)::ccp.sighting
    ) as step
    where step.stage = 4;
    if hindrance > 0 then
      return next row(
        'O24.5', null, place.label, case when state.readings ->> 'ccp-38' = 'b' then 'passes' else (-hindrance)::text end,
        'the Hindrance on the line of the fighter', 'ccp-38', null,
        case when state.readings ->> 'ccp-38' = 'b' then null else -2 * hindrance end, null
      )::rulings.ledger_step;
    end if;
  end if;
  total := array(
    select row(step.*)::rulings.ledger_step from ccp._total_steps(state, place.label, impact.source) as step
  );
  return query select * from unnest(total);
  if not downslope then
    return next row(
      'F102.2.2', null, place.label, 'immune', 'those inside the cave do not roll', null, null, null, null
    )::rulings.ledger_step;
  end if;
  select marker.kind into fort
  from public.marker
  inner join ccp._fortifications() as known on known.kind = marker.kind
  where marker.position_id = state.position_id and marker.q = place.q and marker.r = place.r
  order by marker.id
  limit 1;
  value := impact.fp - case when state.readings ->> 'ccp-38' = 'b' then 0 else hindrance end;
  return next row(
    case impact.source when 'artillery' then 'O24.3.3' when 'fighter' then 'O24.5' else 'O24.4' end, null, place.label,
    value::text, 'FP of the attack', null, null, 2 * value,
    jsonb_build_object(
      'value', value,
      'to_total', (select coalesce(sum(step.halves), 0)::integer / 2 from unnest(total) as step),
      'targets', (
        select coalesce(jsonb_agg(one.code), '[]') from unnest(units) as one where downslope or not ccp._is_inside(one)
      ),
      'fort', fort,
      'modifiers', (
        select coalesce(
          jsonb_agg(jsonb_build_object('rule', step.rule, 'value', step.halves / 2, 'note', step.note)), '[]'
        )
        from unnest(total) as step
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.impact(bigint, text, text, integer, text, jsonb, jsonb) is
'What artillery, a dive bomber or a fighter does to a hex: FP, what terrain adds to the total, and all units of both sides
that must roll (O24.3.3, O24.4, O24.5, T82, T91, T97).';

create or replace function ccp.bombing(
  position_id bigint, plane text, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  craft positions.counter := positions._asked_counter(bombing.position_id, bombing.plane);
  place record;
  bars rulings.ledger_step[] := '{}';
  prey record;
  visible boolean := false;
  hindrance integer := 0;
  away integer;
begin
  select * into state from positions.state(bombing.position_id, bombing.conditions, bombing.policy);
  select hex.q, hex.r, hex.label into place
  from positions.place(bombing.position_id, bombing.at) as found
  inner join public.hex on hex.map_id = state.map_id and hex.q = found.q and hex.r = found.r;
  if place.q is null then
    raise exception 'no hex or unit % on the map of this position', bombing.at using errcode = 'no_data_found';
  end if;
  away := lattice.distance(craft.q, craft.r, place.q, place.r);
  if away = 0 then
    bars := bars || row('O24.4', null, place.label, 'forbids', 'it is the hex of the dive bomber itself', null, null, null, null)::rulings.ledger_step;
  else
    for prey in
      select stat.id, ccp._is_inside(stat) as inside
      from ccp._stats(state) as stat
      where stat.q = place.q and stat.r = place.r and stat.side <> craft.side and stat.kind <> 'aircraft'
      order by ccp._is_inside(stat), stat.id
    loop
      select bool_or(step.effect = 'visible'), coalesce(max(step.hindrance), 0) into visible, hindrance
      from ccp._sights(
        row(
          state, craft.q, craft.r, craft.id, array[place.q], array[place.r], case when prey.inside then prey.id end
        )::ccp.sighting
      ) as step
      where step.stage = 4;
      exit when visible;
    end loop;
    if not visible then
      bars := bars || row('O24.4', null, place.label, 'forbids', 'the dive bomber sees no enemy unit there', null, null, null, null)::rulings.ledger_step;
    end if;
  end if;
  if ccp._near_melee(state, place.q, place.r, 0) then
    bars := bars || row(
      '19.1', null, place.label, case when state.readings ->> 'ccp-12' = 'b' then 'passes' else 'forbids' end,
      'a melee hex as the target of a Bombing Run', 'ccp-12', null, null, null
    )::rulings.ledger_step;
  end if;
  return query select * from unnest(bars);
  return query
  select 'O24.4', null::text, place.label, case when bar.why is null then 'target' else 'refused' end,
    coalesce(bar.why, 'the target of the Bombing Run'), null::text, craft.code, null::integer,
    jsonb_build_object(
      'allowed', bar.why is null, 'why', bar.why, 'side', craft.side, 'hex', place.label, 'range', away,
      'hindrance', hindrance, 'at_least', away + hindrance + 1
    )
  from (select (select step.note from unnest(bars) as step where step.effect = 'forbids' limit 1) as why) as bar;
end
$$;

comment on function ccp.bombing(bigint, text, text, jsonb, jsonb) is
'Whether a dive bomber may attack a hex, and what its Targeting roll must be (O24.4, ccp-12).';

create or replace function ccp.strafed(
  position_id bigint, plane text, direction integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  craft positions.counter := positions._asked_counter(strafed.position_id, strafed.plane);
  cell record;
  q integer := craft.q;
  r integer := craft.r;
  prey record;
  visible boolean;
  melee boolean;
  hexes text[] := '{}';
begin
  select * into state from positions.state(strafed.position_id, strafed.conditions, strafed.policy);
  loop
    q := q + lattice.step_q(strafed.direction);
    r := r + lattice.step_r(strafed.direction);
    select hex.label into cell from public.hex where hex.map_id = state.map_id and hex.q = q and hex.r = r;
    exit when not found;
    visible := false;
    for prey in
      select stat.id, ccp._is_inside(stat) as inside
      from ccp._stats(state) as stat
      where stat.q = q and stat.r = r and stat.kind <> 'aircraft'
      order by ccp._is_inside(stat), stat.id
    loop
      visible := coalesce(
        ccp._sees(state, craft.id, craft.q, craft.r, case when prey.inside then prey.id end, q, r), false
      );
      exit when visible;
    end loop;
    continue when not visible;
    melee := ccp._near_melee(state, q, r, 0);
    if melee then
      return next row(
        '19.1', null, cell.label, case when state.readings ->> 'ccp-12' = 'b' then 'passes' else 'passed over' end,
        'a melee hex in the line of a Strafing Run', 'ccp-12', null, null, null
      )::rulings.ledger_step;
    end if;
    if not melee or state.readings ->> 'ccp-12' = 'b' then
      hexes := hexes || cell.label;
    end if;
  end loop;
  return next row(
    'O24.5', null, craft.label, 'strafes', format('%s hexes in direction %s', cardinality(hexes), strafed.direction), null,
    craft.code, null, jsonb_build_object('hexes', hexes, 'side', craft.side)
  )::rulings.ledger_step;
end
$$;

comment on function ccp.strafed(bigint, text, integer, jsonb, jsonb) is
'The hexes that a fighter attacks in a direction, the nearest first: those with a unit of either side that it sees (O24.5).';

create or replace function ccp.mine_attack(
  position_id bigint, at text, manner text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
declare
  state positions.state;
  place record;
  strength integer;
  why text;
begin
  select * into state from positions.state(mine_attack.position_id, mine_attack.conditions, mine_attack.policy);
  select hex.label into place
  from positions.place(mine_attack.position_id, mine_attack.at) as found
  inner join public.hex on hex.map_id = state.map_id and hex.q = found.q and hex.r = found.r
  left join public.marker
    on marker.position_id = state.position_id and marker.kind = 'mines' and marker.q = hex.q and marker.r = hex.r
  where marker.id is not null;
  strength := coalesce((state.conditions ->> 'mines')::integer, 6);
  why := case
    when place.label is null then 'there are no mines in the hex'
    when manner not in ('move', 'advance') then 'mines attack units that Move or Advance alone'
  end;
  if why is not null then
    return next row('F104.1', null, place.label, 'forbids', why, null, null, null, null)::rulings.ledger_step;
  end if;
  return next row(
    'F104.2', null, place.label, case when why is null then strength::text else 'refused' end,
    coalesce(why, 'the strength of the mines'), null, null, 2 * strength,
    jsonb_build_object('allowed', why is null, 'why', why, 'value', strength, 'hex', place.label)
  )::rulings.ledger_step;
end
$$;

comment on function ccp.mine_attack(bigint, text, text, jsonb, jsonb) is
'Whether the mines of a hex attack, and with how much: 6 unless the scenario gives 7 or 8 (F104.1, F104.2).';

create or replace function ccp.other_roll(
  position_id bigint, label text, units text[], moving boolean, actions text[], conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    known.rule,
    null::text,
    other_roll.label,
    case when verdict.why is null then '+2' else 'forbids' end,
    coalesce(verdict.why, replace(played.name, '_', ' ') || ' on a Moving target'),
    'ccp-49',
    null::text,
    case when verdict.why is null then 4 end,
    jsonb_build_object('value', case when verdict.why is null then 2 else 0 end)
  from positions.state(other_roll.position_id, other_roll.conditions, other_roll.policy) as state
  cross join unnest(other_roll.actions) with ordinality as played (name, n)
  inner join (
    values ('bore_sighting', 'A35'), ('crossfire', 'A37'), ('enfilade', 'A39'), ('explosive_charge', 'A40'),
    ('hand_grenades', 'A42'), ('marksmanship', 'A45'), ('sustained_fire', 'A48')
  ) as known (name, rule) on known.name = played.name
  cross join lateral (
    select other_roll.moving or exists (
      select
      from public.unit
      where unit.position_id = state.position_id
        and unit.code = any(other_roll.units)
        and unit.attributes ->> 'activated' = 'move'
    ) as moves
  ) as target
  cross join lateral (
    select case
      when state.readings ->> 'ccp-49' = 'a'
        then format('%s is played for a Fire Attack roll alone', replace(played.name, '_', ' '))
      when played.name <> 'crossfire' then format('%s wants a piece that fires', replace(played.name, '_', ' '))
      when not target.moves then 'crossfire wants a Moving target'
    end as why
  ) as verdict
  order by played.n
$$;

comment on function ccp.other_roll(bigint, text, text[], boolean, text[], jsonb, jsonb) is
'What actions of a Fire Attack add to an Artillery Impact or Mine Attack roll: nothing, or Crossfire on a Moving target
(ccp-49).';
