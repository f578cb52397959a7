-- needs: charts/cells.sql, positions/state.sql, rulings/step.sql
-- Fate cards by name, as an owner or a house filled them in: 1, and the manifest on the back cover.

create or replace function ccp.fate_card(name text)
returns jsonb
language sql stable parallel safe
as $$
  select jsonb_object_agg(cell.column_key, cell.value)
  from (
    select distinct on (filled.column_key)
      filled.column_key,
      filled.value
    from public.chart_cell as filled
    where filled.ruleset = 'ccp'
      and filled.chart = 'fate_cards'
      and filled.row_key = fate_card.name
      and filled.value is not null
      and filled.value <> '-'
    order by filled.column_key, array_position(array['house', 'printed', 'owner'], filled.source)
  ) as cell
$$;

comment on function ccp.fate_card(text) is
'What a Fate card says, by column of the chart; null where nobody has filled it in.';

create or replace function ccp.cards_of(names text[])
returns table (name text, card jsonb)
language sql stable parallel safe
as $$
  select
    one.name,
    ccp.fate_card(one.name)
  from unnest(cards_of.names) as one (name)
  order by one.name
$$;

comment on function ccp.cards_of(text[]) is
'Several Fate cards by name.';

create or replace function ccp.smoke_cup()
returns integer[]
language sql stable parallel safe
as $$
  select array_agg(mix.value::integer order by mix.value)
  from (
    select cell.row_key as value
    from charts.cells('ccp', 'smoke_mix') as cell
    cross join lateral generate_series(1, cell.value::integer)
    where cell.value is not null
  ) as mix
$$;

comment on function ccp.smoke_cup() is
'The values of all smoke markers, where their mix is filled in; null where it is not (T95).';

create or replace function ccp._nation(state positions.state, side text)
returns text
language sql stable
as $$
  select
    case
      when _nation.side = 'japan' then 'japan'
      when count(distinct unit.attributes ->> 'nation') = 1 then min(unit.attributes ->> 'nation')
    end
  from public.unit
  where unit.position_id = state.position_id
    and unit.side = _nation.side
$$;

comment on function ccp._nation(positions.state, text) is
'The nation that a side commands, as its units tell it; null where they do not.';

create or replace function ccp._pass_bars(state positions.state, side text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '12.3',
    null,
    null,
    'forbids',
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (state.conditions ->> 'active' <> _pass_bars.side, 'only the active player passes'),
    (
      (state.conditions ->> 'orders_given')::integer > 0,
      'an order was given this turn: a turn has orders or a pass, not both'
    )
  ) as fact (holds, note)
  where fact.holds
$$;

comment on function ccp._pass_bars(positions.state, text) is
'What forbids a pass: whose turn it is, and orders that were given (12.3).';

create or replace function ccp.discard_limit(
  position_id bigint, side text, nation text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select bar.*
  from positions.state(discard_limit.position_id, discard_limit.conditions, discard_limit.policy) as state
  cross join lateral ccp._pass_bars(state, discard_limit.side) as bar
  union all
  select
    case when whose.word = 'night' then '18.1' else '12.3' end,
    null,
    null,
    coalesce(printed.value, 'untold'),
    case
      when printed.value is null then 'which nation the Allies are is not told'
      else format('cards that may be discarded: %s', whose.word)
    end,
    null,
    null,
    null,
    jsonb_build_object('limit', printed.value::integer)
  from positions.state(discard_limit.position_id, discard_limit.conditions, discard_limit.policy) as state
  cross join lateral (
    select
      case
        when (state.conditions ->> 'night')::boolean then 'night'
        else coalesce(discard_limit.nation, ccp._nation(state, discard_limit.side))
      end as word
  ) as whose
  left join lateral charts.cell('ccp', 'discard_limits', whose.word, 'cards') as printed on true
$$;

comment on function ccp.discard_limit(bigint, text, text, jsonb, jsonb) is
'How many cards a side may discard in a pass, by its nation or at night, and what forbids a pass (12.3, 18.1, O21).';

create or replace function ccp.hand_size(position_id bigint, side text, conditions jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '1.1',
    null,
    null,
    coalesce(printed.value, 'untold'),
    case
      when printed.value is null then format('the Posture of %s is not told', hand_size.side)
      else format('the hand size of %s', posture.word)
    end,
    null,
    null,
    null::integer,
    jsonb_build_object('size', printed.value::integer)
  from positions.state(hand_size.position_id, hand_size.conditions) as state
  cross join lateral (select state.conditions -> 'posture' ->> hand_size.side as word) as posture
  left join lateral charts.cell('ccp', 'hand_size', posture.word, 'cards') as printed on true
$$;

comment on function ccp.hand_size(bigint, text, jsonb) is
'How many cards a side holds at the end of its turn, by its Posture (1.1, 12.4).';

create or replace function ccp.counter_faces(position_id bigint, side text, kind text, quality text, name text)
returns jsonb
language sql stable
as $$
  with line as materialized (
    select
      cell.row_key,
      jsonb_object_agg(cell.column_key, cell.value) as facts
    from charts.cells('ccp', 'counters') as cell
    where cell.value is not null
      and cell.value <> '-'
    group by cell.row_key
  ),
  face as materialized (
    select
      line.facts ->> 'face' as word,
      jsonb_strip_nulls(
        jsonb_build_object(
          'fp', (line.facts ->> 'fp')::integer,
          'range', (line.facts ->> 'range')::integer,
          'movement', (line.facts ->> 'movement')::numeric,
          'morale', (line.facts ->> 'morale')::integer
        )
      ) as numbers,
      (line.facts ->> 'command')::integer as command,
      (line.facts ->> 'boxed')::boolean as boxed
    from line
    cross join positions.state(counter_faces.position_id) as state
    where line.facts ->> 'kind' = counter_faces.kind
      and line.facts ->> 'nation' = ccp._nation(state, counter_faces.side)
      and (counter_faces.quality is null or line.facts ->> 'quality' = counter_faces.quality)
      and (counter_faces.name is null or lower(line.facts ->> 'name') = counter_faces.name)
  )
  select
    front.numbers
    || jsonb_strip_nulls(
      jsonb_build_object('command', front.command, 'boxed_fp', nullif(front.boxed, false), 'reverse', back.numbers)
    )
  from face as front
  left join face as back on back.word = 'back'
  where front.word = 'front'
  limit 1
$$;

comment on function ccp.counter_faces(bigint, text, text, text, text) is
'What both faces of a counter show, by kind, quality and name, where the chart of counters is filled in (3.1).';

create or replace function ccp.air_dates(position_id bigint, side text)
returns text
language sql stable
as $$
  select first.value || '-' || coalesce(last.value, first.value)
  from positions.state(air_dates.position_id) as state
  cross join lateral charts.cell('ccp', 'air_support_dates', ccp._nation(state, air_dates.side), 'year_from') as first
  cross join lateral charts.cell('ccp', 'air_support_dates', ccp._nation(state, air_dates.side), 'year_to') as last
  where first.value is not null
$$;

comment on function ccp.air_dates(bigint, text) is
'The years in which a nation may have Air Support, where they are filled in (E50).';

create or replace function ccp.table_entries(
  position_id bigint, chart text, side text, roll integer, conditions jsonb default null
)
returns table (row_key text, entry jsonb)
language sql stable rows 3
as $$
  select
    line.row_key,
    line.entry
  from positions.state(table_entries.position_id, table_entries.conditions) as state
  cross join lateral (
    select
      cell.row_key,
      jsonb_object_agg(cell.column_key, cell.value) as entry
    from charts.cells('ccp', table_entries.chart) as cell
    where cell.value is not null
      and cell.value <> '-'
    group by cell.row_key
  ) as line
  where line.entry ->> 'nation' = ccp._nation(state, table_entries.side)
    and (line.entry ->> 'roll')::integer = table_entries.roll
    and (state.conditions ->> 'year')::integer between
    coalesce((line.entry ->> 'year_from')::integer, 0) and coalesce((line.entry ->> 'year_to')::integer, 9999)
  order by line.row_key
$$;

comment on function ccp.table_entries(bigint, text, text, integer, jsonb) is
'What a Radio or Support Table offers for a roll, by nation and year; no row where the table is not filled in (O24.1,
O28.1, A43.6, E70).';
