-- Charts by cell: what stands in a cell and who says so, what is wanting, where sources disagree.
--
-- A cell may have up to three rows in `chart_cell`. A house rule goes before the book, the book before
-- what an owner read off the player aid; a row of the book without a value says that it prints none.

create or replace view charts.cell_in_force as
select distinct on (cell.ruleset, cell.chart, cell.row_key, cell.column_key)
  cell.ruleset,
  cell.chart,
  cell.row_key,
  cell.column_key,
  cell.row_n,
  array_position(chart.column_keys, cell.column_key) as column_n,
  cell.value,
  case when cell.value is not null then cell.source end as source,
  cell.rule,
  cell.example and cell.value is not null as example
from public.chart_cell as cell
inner join public.chart
  on cell.ruleset = chart.ruleset and cell.chart = chart.code
order by
  cell.ruleset,
  cell.chart,
  cell.row_key,
  cell.column_key,
  cell.value is null,
  array_position(array['house', 'printed', 'owner'], cell.source);

comment on view charts.cell_in_force is
'Every cell of every chart once: the value in force with its source and rule, null where nobody has told it,'
' and whether a worked example tells it.';

create or replace view charts.state as
select
  chart.ruleset,
  chart.code as chart,
  chart.title,
  chart.rule,
  chart.printed,
  chart.open,
  count(cell.row_key) as cells,
  count(cell.row_key) filter (where cell.value is null) as missing,
  count(cell.row_key) filter (where cell.source = 'owner') as owner,
  count(cell.row_key) filter (where cell.source = 'house') as house
from public.chart
left join charts.cell_in_force as cell
  on chart.ruleset = cell.ruleset and chart.code = cell.chart
group by chart.ruleset, chart.code;

comment on view charts.state is
'Every chart with how many cells it has, how many nobody has told, and how many an owner or a house has filled.';

create or replace function charts.cell(ruleset text, chart text, row_key text, column_key text)
returns table (value text, source text, rule text)
language sql stable parallel safe rows 1
as $$
  -- as charts.cell_in_force has it, by the key alone: a ruling asks for one cell at a time
  select
    found.value,
    case when found.value is not null then found.source end,
    found.rule
  from public.chart_cell as found
  where found.ruleset = cell.ruleset
    and found.chart = cell.chart
    and found.row_key = cell.row_key
    and found.column_key = cell.column_key
  order by found.value is null, array_position(array['house', 'printed', 'owner'], found.source)
  limit 1
$$;

comment on function charts.cell(text, text, text, text) is
'What stands in a cell, whose word it is and by which rule; a value of null: not printed and not filled in.
No row: the chart has no such cell.';

create or replace function charts.cells(ruleset text, chart text)
returns table (row_key text, column_key text, value text, source text, rule text)
language sql stable parallel safe
as $$
  select cell.row_key, cell.column_key, cell.value, cell.source, cell.rule
  from charts.cell_in_force as cell
  where cell.ruleset = cells.ruleset and cell.chart = cells.chart
  order by cell.row_n, cell.row_key, cell.column_n
$$;

comment on function charts.cells(text, text) is
'All cells of a chart in their order, each with the value in force, its source and its rule.';

create or replace function charts.missing(ruleset text, chart text default null)
returns table (chart text, row_key text, column_key text, rule text)
language sql stable parallel safe
as $$
  select cell.chart, cell.row_key, cell.column_key, cell.rule
  from charts.cell_in_force as cell
  where cell.ruleset = missing.ruleset
    and (missing.chart is null or cell.chart = missing.chart)
    and cell.value is null
  order by cell.chart, cell.row_n, cell.row_key, cell.column_n
$$;

comment on function charts.missing(text, text) is
'The cells that the book does not print and nobody has filled in, of one chart or of all charts of a game.';

create or replace function charts.contradictions(ruleset text)
returns table (chart text, row_key text, column_key text, printed text, source text, value text, rule text)
language sql stable parallel safe
as $$
  select filled.chart, filled.row_key, filled.column_key, book.value, filled.source, filled.value, book.rule
  from public.chart_cell as filled
  inner join public.chart_cell as book
    on book.ruleset = filled.ruleset
      and book.chart = filled.chart
      and book.row_key = filled.row_key
      and book.column_key = filled.column_key
      and book.source = 'printed'
      and book.value is distinct from filled.value
      and book.value is not null
  where filled.ruleset = contradictions.ruleset and filled.source <> 'printed'
  order by filled.chart, filled.row_n, filled.row_key, filled.column_key, filled.source
$$;

comment on function charts.contradictions(text) is
'Where an owner or a house says otherwise than the book prints: a house rule holds against it, an owner does not.';

create or replace function charts.strays(ruleset text)
returns table (chart text, row_key text, column_key text, source text, value text)
language sql stable parallel safe
as $$
  select filled.chart, filled.row_key, filled.column_key, filled.source, filled.value
  from public.chart_cell as filled
  inner join public.chart
    on chart.ruleset = filled.ruleset and chart.code = filled.chart
  where filled.ruleset = strays.ruleset
    and filled.source <> 'printed'
    and (
      not filled.column_key = any(chart.column_keys)
      or (
        not chart.open
        and not exists (
          select from public.chart_cell as book
          where book.ruleset = filled.ruleset
            and book.chart = filled.chart
            and book.row_key = filled.row_key
            and book.column_key = filled.column_key
            and book.source = 'printed'
        )
      )
    )
  order by filled.chart, filled.row_key, filled.column_key
$$;

comment on function charts.strays(text) is
'Cells that an owner or a house filled in where the chart, since an upgrade, has no such row or column.';

create or replace function charts.filled_digest(ruleset text)
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select md5(string_agg(
      concat_ws(E'\x1f', filled.chart, filled.row_key, filled.column_key, filled.source, filled.value), E'\x1e'
      order by filled.chart, filled.row_key, filled.column_key, filled.source
    ))
    from public.chart_cell as filled
    where filled.ruleset = filled_digest.ruleset and filled.source <> 'printed'
  );
end
$$;

comment on function charts.filled_digest(text) is
'One digest of all that an owner or a house has filled into the charts of a game; null where that is nothing.';
