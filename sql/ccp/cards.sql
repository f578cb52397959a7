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
