-- needs: charts/cells.sql, ddp/secure.sql, ddp/spots.sql, rulings/step.sql
-- Winning and losing in ddp (D-Day at Peleliu): 15.1, 15.2, 17.0 to 17.2, 18.41, 18.42.
--
-- What is secured is counted on the map, or told by whoever asks: {A, B, C, D, beach: numbers (or all),
-- coral: none, some or all, A5, A6: true or false}.

create or replace function ddp._secured(state positions.state)
returns jsonb
language sql stable
as $$
  with held as materialized (
    select own.q, own.r from ddp._us_held(state) as own
  ),

  spot as materialized (
    select
      one.*,
      (one.q, one.r) in (select held.q, held.r from held) as held
    from ddp._spots(state.map_id) as one
    where not one.provisional
  ),

  talking as materialized (
    select hex.label from ddp._us_reachable(state) as hex
  ),

  beach as materialized (
    select one.q, one.r from ddp._landing_beaches(state.map_id) as one
  ),

  judged as materialized (
    select
      spot.id,
      left(spot.id, 1) as zone,
      spot.terrain = 'coral' as coral,
      exists (
        select
        from public.map_feature_hex as dot
        where dot.feature = spot.feature
          and dot.role in ('intense', 'steady')
          and (dot.q, dot.r) in (select beach.q, beach.r from beach)
      ) as beach,
      spot.held
      and spot.label in (select talking.label from talking)
      and not exists (
        select
        from spot as other
        inner join public.map_feature_hex as dot on other.feature = dot.feature and dot.role = 'intense'
        where dot.q = spot.q and dot.r = spot.r and not other.held and other.label <> spot.label
      ) as secure
    from spot
  )

  select
    coalesce(
      (select jsonb_object_agg(per.zone, per.n) from (select judged.zone, count(*) filter (where judged.secure) as n from judged group by judged.zone) as per),
      '{}'
    )
    || coalesce(jsonb_object_agg(judged.id, judged.secure) filter (where judged.coral), '{}')
    || jsonb_build_object(
      'beach', count(*) filter (where judged.secure and judged.beach),
      'coral', case
        when count(*) filter (where judged.coral) = 0 then 'none'
        when bool_and(judged.secure) filter (where judged.coral) then 'all'
        when bool_or(judged.secure) filter (where judged.coral) then 'some'
        else 'none'
      end,
      'all', count(*) filter (where judged.secure),
      'beach_all', count(*) filter (where judged.beach) > 0 and bool_and(judged.secure) filter (where judged.beach),
      'b_all', count(*) filter (where judged.zone = 'B') > 0 and bool_and(judged.secure) filter (where judged.zone = 'B'),
      'ab_total', count(*) filter (where judged.zone in ('A', 'B'))
    )
  from judged
$$;

comment on function ddp._secured(positions.state) is
'How many position hexes are secure by zone, onto the landing beaches and in coral (15.2, 17.1).';

create or replace function ddp._told_secured(told jsonb)
returns jsonb
language sql immutable parallel safe
return told || jsonb_build_object(
  'all',
  (
    select coalesce(sum((told ->> zone.letter)::integer), 0)
    from unnest(array['A', 'B', 'C', 'D']) as zone (letter)
    where told ->> zone.letter ~ '^[0-9]+$'
  ),
  -- 17.1: thirteen position hexes project fire onto the landing beaches
  'beach_all', told ->> 'beach' = 'all' or (told ->> 'beach' ~ '^[0-9]+$' and (told ->> 'beach')::integer >= 13),
  'b_all', coalesce(told ->> 'B' = 'all', false),
  -- 17.2
  'ab_total', 40
);

comment on function ddp._told_secured(jsonb) is
'What somebody says is secured, with the totals that the book prints (17.1, 17.2).';

create or replace function ddp._number_of(told jsonb, key text)
returns integer
language sql immutable parallel safe
return case when told ->> key = 'all' then 99 when told ->> key ~ '^[0-9]+$' then (told ->> key)::integer else 0 end;

comment on function ddp._number_of(jsonb, text) is
'A count of secured hexes; all of them is more than any number asked for.';

create or replace function ddp._goals(scenario text, held jsonb)
returns table (goal text, met boolean, note text)
language sql stable rows 3
as $$
  with wanted as (
    select
      max(cell.value) filter (where cell.column_key = 'beach')::integer as beach,
      max(cell.value) filter (where cell.column_key = 'zone_b')::integer as zone_b,
      max(cell.value) filter (where cell.column_key = 'coral') as coral
    from charts.cells('ddp', 'victory_goals') as cell
    where cell.row_key = case when scenario = 'house_white_beach' then scenario else '15_september' end
  )

  select
    'beach',
    ddp._number_of(held, 'beach') >= wanted.beach,
    format('%s position hexes that cover the landing beaches, of %s', coalesce(held ->> 'beach', '0'), wanted.beach)
  from wanted
  union all
  select
    'zone_b',
    ddp._number_of(held, 'B') >= wanted.zone_b,
    format('%s position hexes in zone B, of %s', coalesce(held ->> 'B', '0'), wanted.zone_b)
  from wanted
  union all
  select
    'coral',
    (
      select bool_and(coalesce((held ->> coral.id)::boolean, false))
      from regexp_split_to_table(wanted.coral, ' +') as coral (id)
    ),
    format('coral positions %s', replace(wanted.coral, ' ', ' and '))
  from wanted
$$;

comment on function ddp._goals(text, jsonb) is
'The three goals of the first day, of which two win, by the chart of goals (15.2); a house scenario has a row of its own.';

create or replace function ddp._verdict_row(
  rule text, note text, ended boolean, winner text, level text, goals jsonb, points integer, held jsonb
)
returns rulings.ledger_step
language sql immutable parallel safe
return row(
  rule, null, null, coalesce(level, case when ended then 'over' else 'goes on' end), note, null, null, null,
  jsonb_build_object(
    'ended', ended, 'winner', winner, 'level', level, 'goals', coalesce(goals, '{}'), 'points', points,
    'secured', held - array['beach_all', 'b_all', 'ab_total', 'all']
  )
)::rulings.ledger_step;

comment on function ddp._verdict_row(text, text, boolean, text, text, jsonb, integer, jsonb) is
'The last row of a reckoning: whether the game is over, who has won and how.';

create or replace function ddp._ridge_victory(state positions.state, tracks jsonb)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_column
declare
  turn integer := (state.conditions ->> 'turn')::integer;
  lost integer := coalesce((tracks -> 'us' ->> 'infantry_loss')::integer, 0);
  held jsonb := tracks -> 'japan' -> 'reserve';
  reserve integer;
  men integer;
begin
  reserve := case jsonb_typeof(held) when 'number' then held::integer when 'array' then jsonb_array_length(held) end;
  select count(*) into men from ddp._occupants(state) as one where not one.fortification;
  return next row(
    '18.41', null, null, case when lost >= 10 then 'catastrophic' else 'bearable' end,
    format('%s of ten infantry units are eliminated', lost), null, null, 2 * lost, null
  )::rulings.ledger_step;
  if lost >= 10 then
    return next ddp._verdict_row('18.41', 'catastrophic loss', true, 'japan', 'loss', null, men, '{}');
    return;
  end if;
  if reserve is null then
    return next row('18.42', null, null, 'unknown', 'how many units are in the Japanese reserve box', null, null, null, null)::rulings.ledger_step;
    return next ddp._verdict_row('18.42', 'the reserve box is not told', null, null, null, null, men, '{}');
    return;
  end if;
  return next row(
    '18.42', null, null, 'counts', format('%s Japanese units on the map, %s in the reserve box', men, reserve), null, null, 2 * men, null
  )::rulings.ledger_step;
  if men = 0 and reserve = 0 then
    return next ddp._verdict_row('18.2', 'no Japanese unit is left', true, 'us', 'win', null, men, '{}');
  elsif turn in (4, 8, 12, 16) and reserve = 0 then
    return next row(
      '18.42', null, null, case when state.readings ->> 'ddp-30' = 'b' then 'goes on' else 'wins' end,
      'at the end of a night the reserve box is empty, and units are on the map', 'ddp-30', null, null, null
    )::rulings.ledger_step;
    if state.readings ->> 'ddp-30' = 'b' then
      return next ddp._verdict_row('18.42', 'units are left on the map', false, null, null, null, men, '{}');
    else
      return next ddp._verdict_row('18.42', 'the reserve box is empty at the end of a night', true, 'us', 'win', null, men, '{}');
    end if;
  elsif turn >= 19 and reserve = 0 and men <= 1 then
    return next ddp._verdict_row('18.42', 'at most one unit is left when the scenario ends', true, 'us', 'win', null, men, '{}');
  elsif turn >= 19 then
    return next ddp._verdict_row('18.42', 'the scenario ends, and too many units are left', true, null, 'draw', null, men, '{}');
  else
    return next ddp._verdict_row('18.42', 'the battle goes on', false, null, null, null, men, '{}');
  end if;
end
$$;

comment on function ddp._ridge_victory(positions.state, jsonb) is
'Who has won on Bloody Nose Ridge, and whether it is over (18.2, 18.41, 18.42, ddp-30).';

create or replace function ddp.victory(
  position_id bigint, told jsonb default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  turn integer;
  tracks jsonb;
  lost integer;
  level integer;
  held jsonb;
  met jsonb;
  goals_met integer;
  assault boolean;
  over boolean;
  points integer;
begin
  select * into state from positions.state(victory.position_id, victory.conditions, victory.policy);
  select coalesce(position.tracks, '{}') into tracks from public.position where position.id = victory.position_id;
  if ddp._ridge(state.conditions) then
    return query select * from ddp._ridge_victory(state, tracks);
    return;
  end if;
  turn := (state.conditions ->> 'turn')::integer;
  assault := case coalesce(state.conditions ->> 'scenario', 'invasion')
    when 'peleliu_assault' then true
    when 'invasion' then coalesce(turn > 12, false)
    else false
  end;
  over := coalesce(state.conditions ->> 'phase', 'end_of_turn') = 'end_of_turn';
  lost := coalesce((tracks -> 'us' ->> 'infantry_loss')::integer, 0);
  select coalesce((tracks -> 'us' ->> 'loss_level')::integer, max(case when cell.value ~ '^[0-9]+$' then cell.value::integer end))
  into level
  from charts.cell('ddp', 'turn_track', coalesce(turn, 0)::text, 'loss_level') as cell;
  if lost >= level and coalesce(turn >= 5, false) then
    return next row('15.1', null, null, 'catastrophic', format('%s counters of %s in the loss box', lost, level), null, null, 2 * lost, null)::rulings.ledger_step;
    return next ddp._verdict_row(
      case when assault then '17.0' else '15.1' end, 'catastrophic loss', true, 'japan',
      case when assault then 'decisive_loss' else 'loss' end, null, null, '{}'
    );
    return;
  end if;
  if level is not null then
    return next row(
      '15.1', null, null, 'bearable',
      format('%s counters of %s in the loss box%s', lost, level, case when lost >= level then ', and it is not yet turn 5' else '' end),
      null, null, 2 * lost, null
    )::rulings.ledger_step;
  end if;
  held := case when victory.told is null then ddp._secured(state) else ddp._told_secured(victory.told) end;
  select jsonb_object_agg(goal.goal, goal.met), count(*) filter (where goal.met)
  into met, goals_met
  from ddp._goals(state.conditions ->> 'scenario', held) as goal;
  if not assault then
    return query
    select '15.2', null::text, null::text, case when goal.met then 'met' else 'not met' end, goal.note, null::text, goal.goal, null::integer, null::jsonb
    from ddp._goals(state.conditions ->> 'scenario', held) as goal;
    if coalesce(turn < 12, false) or not over then
      return next ddp._verdict_row('15.0', 'the scenario ends with turn 12', false, null, null, met, goals_met, held);
    elsif goals_met >= 2 then
      return next ddp._verdict_row('15.2', format('%s of the three goals are met', goals_met), true, 'us', 'win', met, goals_met, held);
    else
      return next ddp._verdict_row('15.2', format('%s of the three goals is met; two win', goals_met), true, 'japan', 'loss', met, goals_met, held);
    end if;
    return;
  end if;
  if turn = 12 and over then
    return query
    select '17.1', null::text, null::text, case when one.met then 'met' else 'not met' end, one.note, null::text, null::text, null::integer, null::jsonb
    from (
      values
      (1, coalesce((held ->> 'beach_all')::boolean, false), 'all position hexes that cover the landing beaches'),
      (2, coalesce((held ->> 'b_all')::boolean, false), 'all position hexes in zone B'),
      (3, held ->> 'coral' = 'all', 'all coral positions')
    ) as one (n, met, note)
    order by one.n;
    met := jsonb_build_object(
      'beach', coalesce((held ->> 'beach_all')::boolean, false),
      'zone_b', coalesce((held ->> 'b_all')::boolean, false),
      'coral', held ->> 'coral' = 'all'
    );
    if (met ->> 'beach')::boolean and ((met ->> 'zone_b')::boolean or (met ->> 'coral')::boolean) then
      return next ddp._verdict_row('17.1', 'the beaches and zone B or the coral are secured on turn 12', true, 'us', 'win', met, (held ->> 'all')::integer, held);
    elsif ddp._number_of(held, 'B') < 99 and (held ->> 'all')::integer < 10 then
      return next ddp._verdict_row('17.1', 'fewer than ten position hexes are secured on turn 12', true, 'japan', 'decisive_loss', met, (held ->> 'all')::integer, held);
    else
      return next ddp._verdict_row('17.1', 'neither won nor lost: on to turn 24', false, null, null, met, (held ->> 'all')::integer, held);
    end if;
    return;
  end if;
  -- 17.2: a position in C or D stands for two of A or B
  points := ddp._number_of(held, 'A') + ddp._number_of(held, 'B') + 2 * (ddp._number_of(held, 'C') + ddp._number_of(held, 'D'));
  return next row(
    '17.2', null, null, 'counts',
    format(
      '%s in zones A and B, twice %s in C and D, of %s',
      ddp._number_of(held, 'A') + ddp._number_of(held, 'B'), ddp._number_of(held, 'C') + ddp._number_of(held, 'D'), held ->> 'ab_total'
    ),
    null, null, 2 * points, null
  )::rulings.ledger_step;
  met := jsonb_build_object('zones', points >= (held ->> 'ab_total')::integer);
  if coalesce(turn < 24, false) or not over then
    return next ddp._verdict_row('17.0', 'the scenario goes on to turn 24', false, null, null, met, points, held);
  elsif points >= (held ->> 'ab_total')::integer then
    return next ddp._verdict_row('17.2', 'zones A and B are secured', true, 'us', 'win', met, points, held);
  else
    return next ddp._verdict_row('17.2', 'zones A and B are not secured', true, 'japan', 'loss', met, points, held);
  end if;
end
$$;

comment on function ddp.victory(bigint, jsonb, jsonb, jsonb) is
'Whether the game is over, who has won and how, with every goal and loss that decides it (15.1, 15.2, 17.0, 18.4): the verdict last.';
