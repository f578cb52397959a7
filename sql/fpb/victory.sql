-- needs: charts/cells.sql, fpb/stack.sql
-- Who has won in fpb (Forgotten Pacific Battles): what an island wants, and what it costs: 18.1, 18.2, 18.3.

create or replace function fpb._objectives(state positions.state)
returns table (label text, q integer, r integer, note text)
language sql stable rows 10
as $$
  with goal as (
    select
      hex.label,
      hex.q,
      hex.r,
      case
        when 'airstrip' = any(hex.features) then 'airstrip'
        when 'village' = any(hex.features) or hex.terrain = 'village' then 'village'
        when 'phosphate_plant' = any(hex.features) then 'the Phosphate Plant'
        else 'island hex'
      end as note,
      'airstrip' = any(hex.features) as airstrip,
      'village' = any(hex.features) or hex.terrain = 'village' as village,
      'phosphate_plant' = any(hex.features) as plant,
      hex.terrain not in ('sea', 'reef') or 'coast' = any(hex.features) as land,
      exists (
        select
        from public.map_feature_hex as spot
        inner join public.map_feature as place on place.id = spot.feature
        where place.map_id = hex.map_id and place.kind = 'objective' and spot.role = 'at' and spot.q = hex.q and spot.r = hex.r
      ) as named
    from public.hex
    where hex.map_id = state.map_id
  )
  select goal.label, goal.q, goal.r, goal.note
  from goal
  where case state.conditions ->> 'island'
    when 'engebi' then goal.airstrip
    when 'eniwetok' then goal.land
    when 'parry' then goal.land
    when 'guam' then goal.village or goal.airstrip
    when 'tinian' then goal.village or goal.airstrip
    -- the village by its name, where the map has names
    else goal.airstrip or goal.plant or goal.named
      or (goal.village and not exists (select from goal as other where other.named and other.village))
  end
  order by goal.label collate "C"
$$;

comment on function fpb._objectives(positions.state) is
'The hexes that the US side must capture on an island (18.1, 18.2).';

create or replace function fpb._objective_steps(state positions.state)
returns setof rulings.ledger_step
language sql stable rows 10
as $$
  select
    '18.2',
    null,
    goal.label,
    case when held.captured then 'captured' else 'not captured' end,
    goal.note,
    case when held.marked and held.japanese then 'fpb-37' end,
    null,
    null::integer,
    null::jsonb
  from fpb._objectives(state) as goal
  cross join lateral (
    select
      exists (
        select
        from public.marker
        where marker.position_id = state.position_id and marker.kind = 'captured' and marker.q = goal.q and marker.r = goal.r
      ) as marked,
      exists (
        select
        from public.unit
        where unit.position_id = state.position_id and unit.side = 'japan' and unit.q = goal.q and unit.r = goal.r
      ) as japanese,
      exists (
        select
        from public.unit
        where unit.position_id = state.position_id and unit.side = 'us' and unit.q = goal.q and unit.r = goal.r
      ) as us
  ) as there
  cross join lateral (
    select
      there.marked,
      there.japanese,
      -- 18.1: who is there has entered it; fpb-37 a: so has a Japanese unit
      there.us or (there.marked and (not there.japanese or state.readings ->> 'fpb-37' = 'b')) as captured
  ) as held
  order by goal.label collate "C"
$$;

comment on function fpb._objective_steps(positions.state) is
'Of each hex that is wanted whether the US side has captured it (18.1, 18.2, fpb-37).';

create or replace function fpb._survivor_steps(state positions.state)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    '18.2', null, unit.label, 'lives', 'every Japanese unit is to be eliminated', null, unit.code, null::integer, null::jsonb
  from fpb._units(state) as unit
  where unit.side = 'japan'
    and unit.attributes ->> 'status' is distinct from 'eliminated'
    -- 18.2: on Guam and Tinian the hexes are enough
    and state.conditions ->> 'island' not in ('guam', 'tinian')
  order by unit.code
$$;

comment on function fpb._survivor_steps(positions.state) is
'Japanese units that must still be eliminated (18.2).';

create or replace function fpb.island_won(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  state positions.state;
  goals rulings.ledger_step[];
  survivors rulings.ledger_step[];
  island text;
  length integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  island := state.conditions ->> 'island';
  select cell.value::integer into length from charts.cell('fpb', 'scenario_lengths', island, 'game_turns') as cell;
  if island is not null then
    goals := array(select step from fpb._objective_steps(state) as step);
    survivors := array(select step from fpb._survivor_steps(state) as step);
  end if;
  return query select * from unnest(goals);
  return query select * from unnest(survivors);
  if cardinality(goals) = 0 then
    return next row('18.2', null, null, 'unknown', 'map', null, null, null, null)::rulings.ledger_step;
  elsif island in ('engebi', 'angaur') and (
    select count(*) from unnest(goals) as goal where goal.note = 'airstrip'
  ) <> 5 then
    return next row(
      '18.2', null, null, 'assumed', 'the airstrip has five hexes; those of this map are counted', null, null, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    '18.2', null, null,
    case when island is null or cardinality(goals) = 0 then 'undecided' when won.so then 'met' else 'not met' end,
    case when island is null then 'the island is not told' else format('what is wanted on %s', initcap(island)) end,
    null, null, null,
    jsonb_build_object(
      'met', case when island is not null and cardinality(goals) > 0 then won.so end,
      'missing', array(select goal.at from unnest(goals) as goal where goal.effect = 'not captured'),
      'survivors', array(select each.by from unnest(survivors) as each),
      'length', length,
      'turn', (state.conditions ->> 'turn')::integer,
      'scenario', state.conditions ->> 'scenario',
      'island', island
    )
  )::rulings.ledger_step
  from (
    select cardinality(survivors) = 0 and not exists (
      select from unnest(goals) as goal where goal.effect = 'not captured'
    ) as so
  ) as won;
end
$$;

comment on function fpb.island_won(bigint, jsonb, jsonb) is
'Whether the US side has what an island wants: hexes captured, Japanese units eliminated; the verdict last.';

create or replace function fpb._losses(state positions.state)
returns table (depleted integer, eliminated integer, depleted_first integer)
language sql stable rows 1
as $$
  select
    coalesce(
      (position.tracks ->> 'depleted')::integer,
      count(*) filter (where unit.lost = 'depleted')::integer
    ),
    coalesce(
      (position.tracks ->> 'eliminated')::integer,
      count(*) filter (where unit.lost = 'eliminated')::integer
    ),
    count(*) filter (where unit.lost = 'eliminated' and unit.worn)::integer
  from public.position
  left join lateral (
    select
      case
        when counter.attributes ->> 'status' = 'eliminated' then 'eliminated'
        when (counter.attributes ->> 'depleted')::boolean then 'depleted'
      end as lost,
      coalesce((counter.attributes ->> 'depleted')::boolean, false) as worn
    from fpb._units(state) as counter
    where counter.side = 'us'
  ) as unit on true
  where position.id = state.position_id
  group by position.id
$$;

comment on function fpb._losses(positions.state) is
'US units lost on the island that is played: as its track has it, else as its counters show (18.1, 18.2).';

create or replace function fpb._reckonings(state positions.state, islands jsonb)
returns table (
  n integer, island text, used integer, given_up integer, landed_on integer, charge integer, flat integer,
  disputed boolean, allotted integer, due integer, track_n integer
)
language sql stable rows 6
as $$
  select
    limits.row_n::integer,
    limits.row_key,
    coalesce((told.said ->> 'turns')::integer, (told.said ->> 'won_on')::integer),
    (told.said ->> 'given_up')::integer,
    (told.said ->> 'landed_on')::integer,
    -- fpb-38 b: who was depleted first is charged for that, too
    loss.depleted + 2 * loss.eliminated + case state.readings ->> 'fpb-38' when 'b' then loss.first else 0 end,
    loss.depleted + 2 * loss.eliminated,
    loss.first > 0,
    max(limits.value::integer) filter (where limits.column_key = 'game_turns'),
    max(limits.value::integer) filter (where limits.column_key = 'simultaneous_by'),
    22
  from charts.cell_in_force as limits
  inner join jsonb_each(islands) as told (name, said) on told.name = limits.row_key
  cross join lateral (
    select
      coalesce((told.said ->> 'depleted')::integer, 0) as depleted,
      coalesce((told.said ->> 'eliminated')::integer, 0) as eliminated,
      coalesce((told.said ->> 'depleted_first')::integer, 0) as first
  ) as loss
  where limits.ruleset = 'fpb' and limits.chart = 'scenario_lengths'
  group by limits.row_n, limits.row_key, told.said, loss.depleted, loss.eliminated, loss.first
  order by limits.row_n
$$;

comment on function fpb._reckonings(positions.state, jsonb) is
'Islands with the game turns that they took, the charge for US losses, and what they are measured against (18.1, 18.2).';

create or replace function fpb._points_steps(state positions.state, islands jsonb)
returns setof rulings.ledger_step
language sql stable rows 12
as $$
  select entry.rule, null, null, entry.effect, entry.note, entry.point, each.island, 2 * entry.value, null::jsonb
  from fpb._reckonings(state, islands) as each
  cross join lateral (
    values
    (
      1, each.used < each.allotted, '18.2', '+' || 2 * (each.allotted - each.used),
      format('%s: %s of %s game turns used', initcap(each.island), each.used, each.allotted), null,
      2 * (each.allotted - each.used)
    ),
    (
      2, coalesce(each.used, each.given_up) > each.allotted
      and (each.used is not null or state.readings ->> 'fpb-52' = 'c'),
      '18.2', '-' || coalesce(each.used, each.given_up) - each.allotted,
      format('%s: game turns beyond its %s', initcap(each.island), each.allotted),
      case when each.used is null then 'fpb-52' end,
      each.allotted - coalesce(each.used, each.given_up)
    ),
    (
      3, each.charge > 0, '18.2', '-' || each.charge, format('%s: US losses', initcap(each.island)),
      case when each.disputed then 'fpb-38' end, -each.charge
    ),
    (
      4, each.used is null, '18.2', 'never won', format('%s was not captured', initcap(each.island)), 'fpb-52', 0
    )
  ) as entry (n, speaks, rule, effect, note, point, value)
  where entry.speaks
  order by each.n, entry.n
$$;

comment on function fpb._points_steps(positions.state, jsonb) is
'Victory points of the sequenced scenario, island by island (18.2, fpb-38, fpb-52).';

create or replace function fpb.points(
  position_id bigint, islands jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
as $$
#variable_conflict use_variable
declare
  state positions.state;
  entries rulings.ledger_step[];
  total integer;
  lost integer;
  all_told boolean;
  winner text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  entries := array(select step from fpb._points_steps(state, islands) as step);
  return query select * from unnest(entries);
  select coalesce(sum(step.halves) / 2, 0) into total from unnest(entries) as step;
  select count(*) filter (where step.effect = 'never won') into lost from unnest(entries) as step;
  select count(*) = 6 into all_told from jsonb_object_keys(islands);
  winner := case
    when lost > 0 and state.readings ->> 'fpb-52' = 'b' then 'japan'
    when (lost > 0 and state.readings ->> 'fpb-52' = 'a') or not all_told then null
    when total >= 2 then 'us'
    when total <= -2 then 'japan'
    else 'draw'
  end;
  return next row(
    '18.2', null, null, coalesce(winner, 'no verdict'),
    case
      when winner is null and lost > 0 then 'an island was never captured, and nothing is printed for that'
      when winner is null then 'not every island has been played'
      else format('%s victory points in all', total)
    end,
    case when lost > 0 then 'fpb-52' end, null, 2 * total,
    jsonb_build_object(
      'points', (
        select jsonb_object_agg(island.name, coalesce(earned.points, 0))
        from jsonb_object_keys(islands) as island (name)
        left join lateral (
          select sum(step.halves) / 2 as points from unnest(entries) as step where step.by = island.name
        ) as earned on true
      ) || jsonb_build_object('total', total),
      'winner', winner
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.points(bigint, jsonb, jsonb, jsonb) is
'The victory points of the sequenced scenario and who has won by them; the verdict last (18.2).';

create or replace function fpb._deadline_steps(state positions.state, islands jsonb)
returns setof rulings.ledger_step
language sql stable rows 12
as $$
  select entry.rule, null, null, entry.effect, entry.note, entry.point, each.island, 2 * entry.value, null::jsonb
  from fpb._reckonings(state, islands) as each
  cross join lateral (
    select
      each.due - each.charge as allowance,
      -- fpb-24 b: the game turns of the island itself, from its first landing
      each.used - case state.readings ->> 'fpb-24' when 'b' then coalesce(each.landed_on, 1) - 1 else 0 end as taken
  ) as term
  cross join lateral (
    values
    (
      1, true, '18.1', 'allowance', format('%s: %s less %s for US losses', initcap(each.island), each.due, each.charge),
      case when each.disputed then 'fpb-38' end, term.allowance
    ),
    (
      2, each.landed_on > 1, '18.1', 'counts',
      format('%s: first landing on game turn %s', initcap(each.island), each.landed_on), 'fpb-24', null
    ),
    (
      3, term.taken > term.allowance, '18.1', case state.readings ->> 'fpb-25' when 'a' then 'shortens' else 'loses' end,
      format('%s: game turns beyond its allowance', initcap(each.island)), 'fpb-25', term.allowance - term.taken
    ),
    (4, each.used is null, '18.1', 'not won', format('%s is not captured', initcap(each.island)), null, null)
  ) as entry (n, speaks, rule, effect, note, point, value)
  where entry.speaks
  order by each.n, entry.n
$$;

comment on function fpb._deadline_steps(positions.state, jsonb) is
'Islands of the simultaneous scenario against their game turns (18.1, fpb-24, fpb-25, fpb-38).';

create or replace function fpb.deadlines(
  position_id bigint, islands jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
as $$
#variable_conflict use_variable
declare
  state positions.state;
  entries rulings.ledger_step[];
  track integer;
  last integer;
  won integer;
  turn integer;
  winner text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  turn := (state.conditions ->> 'turn')::integer;
  entries := array(select step from fpb._deadline_steps(state, islands) as step);
  return query select * from unnest(entries);
  select 22 + coalesce(sum(step.halves) / 2, 0) into track from unnest(entries) as step
  where step.effect in ('shortens', 'loses') and state.readings ->> 'fpb-25' = 'a';
  track := coalesce(track, 22);
  select max(each.used), count(each.used) into last, won from fpb._reckonings(state, islands) as each;
  winner := case
    when exists (select from unnest(entries) as step where step.effect = 'loses') then 'japan'
    when won = 6 and last <= track then 'us'
    when won < 6 and turn < track then null
    else 'japan'
  end;
  return next row(
    '18.1', null, null, coalesce(winner, 'no verdict'),
    format('%s of six islands captured, on a track of %s game turns', won, track), null, null, 2 * track,
    jsonb_build_object(
      'allowance', (
        select jsonb_object_agg(step.by, step.halves / 2) from unnest(entries) as step where step.effect = 'allowance'
      ),
      'track', track,
      'winner', winner
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.deadlines(bigint, jsonb, jsonb, jsonb) is
'Allowances, the length of the track and the winner of the simultaneous scenario; the verdict last (18.1).';

create or replace function fpb.campaign(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns table (islands jsonb)
language sql stable rows 1
as $$
  select
    coalesce(position.tracks -> 'islands', '{}')
    || case
      when state.conditions ->> 'island' is null then '{}'
      else jsonb_build_object(
        state.conditions ->> 'island',
        coalesce(position.tracks #> array['islands', state.conditions ->> 'island'], '{}')
        || jsonb_strip_nulls(jsonb_build_object(
          'won_on', position.tracks -> 'won_on',
          'depleted', losses.depleted,
          'eliminated', losses.eliminated,
          'depleted_first', losses.depleted_first
        ))
      )
    end
  from positions.state(campaign.position_id, campaign.conditions, campaign.policy) as state
  inner join public.position on position.id = state.position_id
  cross join lateral fpb._losses(state) as losses
$$;

comment on function fpb.campaign(bigint, jsonb, jsonb) is
'What is on record of every island: when it was won, what it cost; of the one that is played, as it stands (18.1, 18.2).';

create or replace function fpb.is_hopeless(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns boolean
language plpgsql stable
as $$
declare
  state positions.state;
begin
  select * into state from positions.state(is_hopeless.position_id, is_hopeless.conditions, is_hopeless.policy);
  return not exists (select from fpb._units(state) as unit where unit.side = 'us' and unit.q is not null)
    and not (
      exists (
        select
        from fpb._units(state) as unit
        where unit.side = 'us' and unit.q is null and unit.attributes ->> 'status' is distinct from 'eliminated'
      )
      and exists (
        select
        from public.marker
        where marker.position_id = state.position_id and marker.kind in ('assault_boat', 'landing_beach')
      )
    );
end
$$;

comment on function fpb.is_hopeless(bigint, jsonb, jsonb) is
'Whether no US unit is on the island and none can land any more (fpb-52).';
