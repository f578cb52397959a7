-- needs: charts/cells.sql, positions/state.sql, rulings/step.sql
-- Points of the Divisions in css (Guam): weather and fatigue, Dispatch Points and Direct Commands, chits bought: 4.0,
-- 18.0, 19.1, 19.2.
--
-- A display is what is known of a Division: its tracks in the position, and beyond them the chart of the displays.

drop type if exists css.display cascade;
create type css.display as (
  name text,
  place integer,
  side text,
  command_rating integer,
  rating_point text,
  dispatch_rating integer,
  base_troop_quality integer,
  troop_quality integer,
  direct_commands integer,
  dispatch_points integer,
  fatigue integer
);

comment on type css.display is
'A Division as its display has it; null is not told.';
comment on column css.display.place is 'Its place among the Divisions of the position, from 1';
comment on column css.display.rating_point is 'css-9 where its Command Rating is taken from the book';

create or replace function css._printed_rating(division text, rating text)
returns integer
language sql stable
as $$
  select cell.value::integer from charts.cell('css', 'division_displays', division, rating) as cell
$$;

comment on function css._printed_rating(text, text) is
'A number of the chart of Division displays; null is not printed.';

create or replace function css._displays(state positions.state)
returns setof css.display
language sql stable rows 6
as $$
  select
    division.name,
    (row_number() over (order by (division.told ->> 'order')::integer nulls last, division.n))::integer,
    coalesce(division.told ->> 'side', (
      select cell.value from charts.cell('css', 'division_displays', division.name, 'side') as cell
    ), (
      select min(unit.side)
      from public.unit
      where unit.position_id = state.position_id and unit.attributes ->> 'division' = division.name
    )),
    coalesce(
      (division.told ->> 'command_rating')::integer,
      -- css-9: two places of the book have two ratings
      case when division.name = '3 MarDiv' and state.readings ->> 'css-9' = 'a' then 5 end,
      css._printed_rating(division.name, 'command_rating')
    ),
    case when division.name = '3 MarDiv' and not division.told ? 'command_rating' then 'css-9' end,
    coalesce((division.told ->> 'dispatch_rating')::integer, css._printed_rating(division.name, 'dispatch_rating')),
    coalesce((division.told ->> 'base_troop_quality')::integer, css._printed_rating(division.name, 'troop_quality')),
    coalesce(
      (division.told ->> 'troop_quality')::integer,
      (division.told ->> 'base_troop_quality')::integer,
      css._printed_rating(division.name, 'troop_quality')
    ),
    (division.told ->> 'direct_commands')::integer,
    (division.told ->> 'dispatch_points')::integer,
    (division.told ->> 'fatigue')::integer
  from public.position
  cross join lateral jsonb_each(coalesce(position.tracks -> 'divisions', '{}'))
  with ordinality as division (name, told, n)
  where position.id = state.position_id
$$;

comment on function css._displays(positions.state) is
'The Divisions of a position in the order of its tracks, each with all that is known of its numbers.';

create or replace function css._division_quality(state positions.state, division text)
returns integer
language plpgsql stable
as $$
declare
  told constant jsonb := (
    select position.tracks #> array['divisions', division] from public.position where position.id = state.position_id
  );
begin
  -- as css._displays has it, of one Division and by itself
  return case
    when told is not null
      then coalesce(
        (told ->> 'troop_quality')::integer, (told ->> 'base_troop_quality')::integer,
        css._printed_rating(division, 'troop_quality')
      )
  end;
end
$$;

comment on function css._division_quality(positions.state, text) is
'The current Troop Quality of a Division (19.2); null of one that the tracks do not have.';

create or replace function css._display(state positions.state, division text)
returns css.display
language plpgsql stable
as $$
declare
  found_one css.display;
begin
  select * into found_one from css._displays(state) as display where display.name = division;
  if not found then
    raise exception 'there is no Division % in the tracks of this position', division using errcode = 'no_data_found';
  end if;
  return found_one;
end
$$;

comment on function css._display(positions.state, text) is
'One Division by its name, or an error that says that there is none.';

create or replace function css._on_track(value integer, top integer)
returns integer
language sql immutable parallel safe
return case when value is not null then greatest(least(value, top), 0) end;

comment on function css._on_track(integer, integer) is
'A number as a track from 0 to its top holds it (2.0); what is not told stays untold.';

create or replace function css._is_night(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(conditions ->> 'time' = 'night', false)
or coalesce(conditions ->> 'turn' like 'night%', false);

comment on function css._is_night(jsonb) is
'Whether it is one of the two night turns (17.0).';

create or replace function css._phase(conditions jsonb)
returns text
language sql immutable parallel safe
return coalesce(conditions ->> 'phase', 'preparation');

comment on function css._phase(jsonb) is
'The phase that it is; a position that tells none is before the first turn''s Action Phase.';

create or replace function css._entry(
  rule text, clause text, effect text, note text, by text default null, halves integer default null,
  point text default null, at text default null
)
returns rulings.ledger_step
-- not in SQL: what has a composite result is never inlined, but planned wherever it stands in a query
language plpgsql immutable parallel safe
as $$
begin
  return row(rule, clause, at, effect, note, point, by, halves, null)::rulings.ledger_step;
end
$$;

comment on function css._entry(text, text, text, text, text, integer, text, text) is
'An entry of a ledger whose place matters less than its words.';

create or replace function css._sum(rule text, effect text, note text, facts jsonb, at text default null)
returns rulings.ledger_step
language plpgsql immutable parallel safe
as $$
begin
  return row(rule, null, at, effect, note, null, null, null, facts)::rulings.ledger_step;
end
$$;

comment on function css._sum(text, text, text, jsonb, text) is
'The last row of a ledger: the verdict, and the answer by its names.';

-- Weather and fatigue (4.0, 1 A to D)

create or replace function css.day_start(
  position_id bigint, weather text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  heat integer;
  fatigue integer;
  change integer;
  quality integer;
  divisions jsonb := '{}';
begin
  select * into state from positions.state(position_id, conditions, policy);
  heat := coalesce((
    select cell.value::integer from charts.cell('css', 'weather_effects', weather, 'us_fatigue') as cell
  ), 0);
  for display in select * from css._displays(state) as told order by told.place loop
    fatigue := display.fatigue;
    -- 4.0 1A: the heat of the day comes before the check of its morning
    if heat > 0 and display.side = 'us' then
      fatigue := css._on_track(fatigue + heat, 19);
      return next css._entry('4.0', null, '+' || heat, 'fatigue of a hot day', display.name, 2 * heat);
    end if;
    if weather <> 'tropical_storm' and fatigue is not null then
      change := case
        when fatigue <= 3 then 1
        when fatigue >= case display.side when 'us' then 5 else 7 end then -1
        else 0
      end;
      quality := css._on_track(display.troop_quality + change, display.base_troop_quality);
      return next css._entry(
        case when change > 0 and quality = display.troop_quality then '19.2' else '4.0' end,
        null,
        case
          when change > 0 and quality = display.troop_quality then 'capped'
          when change > 0 then '+1'
          when change < 0 and quality is distinct from display.troop_quality then '-1'
          else '+0'
        end,
        format(
          case when change < 0 and quality = display.troop_quality then 'Troop Quality at fatigue %s, but never below 0'
          else 'Troop Quality at fatigue %s' end, fatigue
        ),
        display.name,
        2 * (quality - display.troop_quality)
      );
    else
      quality := display.troop_quality;
    end if;
    if fatigue is null then
      return next css._entry('4.0', null, 'unknown', format('the fatigue of %s', display.name), display.name);
    end if;
    divisions := divisions || jsonb_build_object(
      display.name,
      jsonb_strip_nulls(jsonb_build_object(
        'fatigue', case when fatigue <> display.fatigue then fatigue end,
        'troop_quality', case when quality <> display.troop_quality then quality end
      ))
    );
  end loop;
  return next css._sum(
    '4.0', weather, format('the weather of the day is %s', replace(weather, '_', ' ')),
    jsonb_build_object('weather', weather, 'skips_day', weather = 'tropical_storm', 'divisions', divisions)
  );
end
$$;

comment on function css.day_start(bigint, text, jsonb, jsonb) is
'What the weather and the check of a morning do to every Division: fatigue first, then Troop Quality (4.0 1 A, B).';

-- Chits bought (4.0 1 G and 2 C)

create or replace function css._gate_steps(display css.display, formation text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select gate.*
  from (
    select
      case display.side when 'us' then 2 else 0 end as none,
      case display.side when 'us' then 3 else 1 end as no_formation
  ) as limits
  cross join lateral css._entry(
    '19.2', null,
    case
      when display.troop_quality is null then 'unknown'
      when display.troop_quality <= limits.none then 'forbids'
      when display.troop_quality <= limits.no_formation and formation is not null then 'forbids'
      else 'allows'
    end,
    case
      when display.troop_quality is null then format('the Troop Quality of %s', display.name)
      when display.troop_quality <= limits.none
        then format('at Troop Quality %s no chit is bought', display.troop_quality)
      when display.troop_quality <= limits.no_formation and formation is not null
        then format('at Troop Quality %s no Formation chit is bought', display.troop_quality)
      else format('Troop Quality %s suffices', display.troop_quality)
    end,
    display.name
  ) as gate
$$;

comment on function css._gate_steps(css.display, text) is
'Whether the Troop Quality of a Division lets it buy a chit (4.0 1G, 19.2).';

create or replace function css._arrival_chit_steps(state positions.state, division text, formation text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 18.0: whose Units all wait off the map
  select entry.*
  from (
    select
      count(*) as all_of_it,
      count(*) filter (
        where unit.q is null
          and not unit.attributes ? 'zone'
          and coalesce(unit.attributes ->> 'box', 'off_board') = 'off_board'
      ) as waiting
    from public.unit
    where unit.position_id = state.position_id
      and unit.attributes ->> 'division' = division
      and (formation is null or unit.attributes ->> 'formation' = formation)
      and unit.attributes ->> 'status' is distinct from 'eliminated'
  ) as units
  cross join lateral css._entry(
    '18.0', null,
    case when state.readings ->> 'css-46' = 'a' then 'allows' else 'forbids' end,
    case
      when state.readings ->> 'css-46' = 'a' then 'its chit is bought on the turn on which it arrives'
      else 'none of it is in play yet'
    end,
    coalesce(formation, division), null, 'css-46'
  ) as entry
  where units.all_of_it > 0
    and units.waiting = units.all_of_it
    and css._phase(state.conditions) = 'preparation'
$$;

comment on function css._arrival_chit_steps(positions.state, text, text) is
'Chits of a Division or Formation that is only about to arrive (18.0, css-46).';

create or replace function css._chit_steps(state positions.state, chit text, display css.display)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.*
  from public.position
  cross join lateral (
    values
    (
      coalesce(position.tracks -> 'bought' ? chit, false),
      format('the chit of %s is bought already', chit)
    ),
    (
      css._phase(state.conditions) <> 'preparation' and coalesce(position.tracks -> 'cup' ? chit, false)
      and not coalesce(position.tracks -> 'bought' ? chit, false),
      format('the chit of %s lies in the cup', chit)
    ),
    (
      css._phase(state.conditions) <> 'preparation' and coalesce(position.tracks -> 'played' ? chit, false),
      format('the chit of %s has been played in this phase', chit)
    ),
    (
      css._phase(state.conditions) = 'action' and position.tracks -> 'cup' = '[]',
      'the cup is empty: nothing more is bought'
    ),
    (
      css._phase(state.conditions) = 'end',
      'in the End Phase nothing is bought'
    ),
    (
      css._phase(state.conditions) = 'action' and strpos(chit, '/') = 0,
      'in the Action Phase only Formation chits are bought'
    ),
    (
      css._phase(state.conditions) = 'action'
      and state.conditions #>> '{active,side}' <> display.side,
      'the other player is asked first'
    )
  ) as bar (holds, note)
  cross join lateral css._entry('4.0', null, 'forbids', bar.note, chit) as entry
  where position.id = state.position_id and bar.holds
$$;

comment on function css._chit_steps(positions.state, text, css.display) is
'What else keeps a chit from being bought: where it is, and when it is (4.0 1G, 2C).';

create or replace function css.buy(
  position_id bigint, division text, formation text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  cost integer;
  chit constant text := concat_ws('/', division, formation);
  steps rulings.ledger_step[];
  bar rulings.ledger_step;
begin
  select * into state from positions.state(position_id, conditions, policy);
  display := css._display(state, division);
  -- 4.0: 2 for a Division, 1 for a Formation; 2 for one that is played at once
  cost := case when formation is null or css._phase(state.conditions) = 'action' then 2 else 1 end;
  steps := array[css._entry('4.0', null, 'costs', format('%s Dispatch Points', cost), division, -2 * cost)];
  steps := steps
  || array(select gate from css._gate_steps(display, formation) as gate)
  || array(select step from css._arrival_chit_steps(state, division, formation) as step)
  || array(select step from css._chit_steps(state, chit, display) as step);
  if display.dispatch_points is null then
    steps := steps || css._entry('4.0', null, 'unknown', format('the Dispatch Points of %s', division), division);
  elsif display.dispatch_points < cost then
    steps := steps || css._entry(
      '4.0', null, 'forbids', format('%s has %s Dispatch Points of %s', division, display.dispatch_points, cost), division
    );
  end if;
  return query select * from unnest(steps);
  select * into bar from unnest(steps) as step where step.effect in ('forbids', 'unknown')
  order by step.effect limit 1;
  return next css._sum(
    coalesce(bar.rule, '4.0'),
    case bar.effect when 'forbids' then 'refused' when 'unknown' then 'unknown' else 'bought' end,
    coalesce(bar.note, format('%s is bought', chit)),
    jsonb_build_object(
      'allowed', case bar.effect when 'forbids' then false when 'unknown' then null else true end,
      'cost', cost,
      'chit', chit,
      'left', display.dispatch_points - cost
    )
  );
end
$$;

comment on function css.buy(bigint, text, text, jsonb, jsonb) is
'Whether a chit may be bought, and for how many Dispatch Points; the verdict last (4.0 1G and 2C, 18.0, 19.2).';

-- The cup (4.0 2 A)

create or replace function css.fill_cup(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 9
as $$
#variable_conflict use_variable
declare
  state positions.state;
  chit record;
  cup jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select coalesce(position.tracks -> 'bought', '[]') into cup from public.position where position.id = position_id;
  return query
  select (css._entry('4.0', null, 'in', 'bought', bought.chit)).*
  from jsonb_array_elements_text(cup) with ordinality as bought (chit, n)
  order by bought.n;
  for chit in
    select *
    from (
      values
      ('direct_command_us', '4.0', null, false),
      ('direct_command_japan', '4.0', null, false),
      ('wind', '4.0', null, false),
      ('random_event', '20.0', null, false),
      (
        'naval_support', '21.0',
        case when state.conditions ->> 'weather' = 'rain' then 'css-29' end,
        -- css-29 b: where the scenario withholds it in rain
        state.conditions ->> 'weather' = 'rain'
        and state.readings ->> 'css-29' = 'b'
        and coalesce((state.conditions ->> 'naval_support')::boolean, true) is false
      ),
      (
        'amphibious', case when css._is_night(state.conditions) then '17.0' else '22.0' end,
        case when css._is_night(state.conditions) then 'css-28' end,
        css._is_night(state.conditions) and state.readings ->> 'css-28' = 'b'
      ),
      (
        'air_support',
        case when css._is_night(state.conditions) then '17.0' else '16.0' end,
        null,
        css._is_night(state.conditions) or coalesce(state.conditions ->> 'weather', 'clear') = 'rain'
      )
    ) as always (name, rule, point, left_out)
  loop
    return next css._entry(
      chit.rule, null, case when chit.left_out then 'out' else 'in' end,
      case when chit.left_out then 'not this turn' else 'every turn' end, chit.name, null, chit.point
    );
    if not chit.left_out then
      cup := cup || to_jsonb(chit.name);
    end if;
  end loop;
  return next css._sum('4.0', 'filled', format('%s chits in the cup', jsonb_array_length(cup)), jsonb_build_object('cup', cup));
end
$$;

comment on function css.fill_cup(bigint, jsonb, jsonb) is
'The chits of an Action Phase: those bought, and those of every turn (4.0 2A, 16.0, 17.0, 20.0, 21.0, 22.0).';

-- Fatigue, Dispatch Points, Direct Commands (4.0 1 H and I, 2 C vi; 19.1)

create or replace function css.fatigue(
  position_id bigint, division text, bought boolean, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  night boolean;
  change integer;
  after integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  display := css._display(state, division);
  night := css._is_night(state.conditions);
  change := case when not bought then -1 when night then 2 else 1 end;
  after := css._on_track(display.fatigue + change, 19);
  return next css._entry(
    '4.0', null, to_char(change, 'FMSG9'),
    case
      when not bought then 'no Division chit was bought'
      when night then 'a Division chit for a night turn'
      else 'a Division chit for a day turn'
    end,
    division, 2 * change
  );
  if after <> display.fatigue + change then
    return next css._entry('4.0', null, 'stops', 'the track goes from 0 to 19', division);
  end if;
  if display.fatigue is null then
    return next css._entry('4.0', null, 'unknown', format('the fatigue of %s', division), division);
  end if;
  return next css._sum(
    '4.0', case when after is null then 'unknown' else after::text end,
    format('fatigue of %s', division), jsonb_build_object('change', change, 'fatigue', after)
  );
end
$$;

comment on function css.fatigue(bigint, text, boolean, jsonb, jsonb) is
'Fatigue of a Division at the end of buying: 1 for a chit by day, 2 by night, 1 less without (4.0 1H).';

create or replace function css.dispatch(
  position_id bigint, division text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  gain integer;
  gainers jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  display := css._display(state, division);
  gain := case when die <= display.dispatch_rating then 3 when die > display.dispatch_rating then 1 end;
  if gain is null then
    return next css._entry('19.1', null, 'unknown', format('the Dispatch Rating of %s', division), division);
  else
    return next css._entry(
      '19.1', null, '+' || gain, format('%s against a Dispatch Rating of %s', die, display.dispatch_rating), division,
      2 * gain, case when gain = 1 then 'css-45' end
    );
  end if;
  select jsonb_object_agg(other.name, css._on_track(other.dispatch_points + gain, 9))
  into gainers
  from css._displays(state) as other
  where other.name = division
    -- css-45 a: of a failure every Division of the player has a point
    or (gain = 1 and state.readings ->> 'css-45' = 'a' and other.side = display.side);
  if display.dispatch_points + gain > 9 then
    return next css._entry('19.1', null, 'stops', 'never more than 9 Dispatch Points', division);
  end if;
  if display.dispatch_points is null then
    return next css._entry('19.1', null, 'unknown', format('the Dispatch Points of %s', division), division);
  end if;
  return next css._sum(
    '19.1', case gain when 3 then 'passes' when 1 then 'fails' else 'unknown' end,
    format('Dispatch Points of %s', division),
    jsonb_build_object(
      'result', case gain when 3 then 'passes' when 1 then 'fails' end,
      'gained', gain,
      'dispatch_points', css._on_track(display.dispatch_points + gain, 9),
      'divisions', gainers
    )
  );
end
$$;

comment on function css.dispatch(bigint, text, integer, jsonb, jsonb) is
'Dispatch Points that a roll gives: 3 at the rating or less, else 1, and never more than 9 (4.0 1I, 19.1).';

create or replace function css.direct_command(
  position_id bigint, division text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  gain integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  display := css._display(state, division);
  gain := die / 2 + display.command_rating;
  return next css._entry('19.1', null, '+' || die / 2, format('half the roll of %s, rounded down', die), division, die / 2 * 2);
  return next css._entry(
    '19.1', null,
    case when display.command_rating is null then 'unknown' else '+' || display.command_rating end,
    case
      when display.command_rating is null then format('the Command Rating of %s', division)
      else 'the Command Rating'
    end,
    division, 2 * display.command_rating, display.rating_point
  );
  if display.direct_commands is null then
    return next css._entry('19.1', null, 'unknown', format('the Direct Commands of %s', division), division);
  elsif display.direct_commands + gain > 19 then
    return next css._entry('19.1', null, 'stops', 'never more than 19 Direct Commands', division);
  end if;
  return next css._sum(
    '19.1', coalesce('+' || gain, 'unknown'), format('Direct Commands of %s', division),
    jsonb_build_object('gained', gain, 'direct_commands', css._on_track(display.direct_commands + gain, 19))
  );
end
$$;

comment on function css.direct_command(bigint, text, integer, jsonb, jsonb) is
'Direct Commands that a roll gives a Division: half of it and the Command Rating, to 19 at most (4.0, 5.2, 19.1).';

create or replace function css._command_cost(conditions jsonb)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    select cell.value::integer
    from charts.cell('css', 'weather_effects', coalesce(conditions ->> 'weather', 'clear'), 'direct_command_cost') as cell
  ), 1);
end
$$;

comment on function css._command_cost(jsonb) is
'What a Direct Command costs: one, on a Hot day two (4.0).';

create or replace function css.command_price(
  position_id bigint, division text, commands integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  display css.display;
  cost integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  display := css._display(state, division);
  cost := commands * css._command_cost(state.conditions);
  return next css._entry('5.2', null, 'costs', format('%s Direct Command', commands), division, -2 * commands);
  if cost > commands then
    return next css._entry('4.0', null, 'doubles', 'on a hot day every Direct Command costs two', division);
  end if;
  return next css._sum(
    '5.2',
    case
      when display.direct_commands is null then 'unknown' when display.direct_commands < cost then 'refused' else 'pays'
    end,
    case
      when display.direct_commands is null then format('the Direct Commands of %s', division)
      when display.direct_commands < cost
        then format('%s has %s Direct Commands of %s', division, display.direct_commands, cost)
      else format('%s pays', division)
    end,
    jsonb_build_object('cost', cost, 'left', display.direct_commands - cost)
  );
end
$$;

comment on function css.command_price(bigint, text, integer, jsonb, jsonb) is
'What spending Direct Commands comes to, doubled on a Hot day, and whether the Division has them (4.0, 5.2).';
