-- needs: positions/state.sql, charts/cells.sql
-- Weapons of US units in ddp (D-Day at Peleliu): 8.21, 8.25, 8.27, 8.28.
--
-- What a counter prints, or somebody wrote with the unit, goes first; else the US Weapons Chart, of which the
-- text tells tanks, markers and regimental HQs. A row of the chart is kind/steps/range, such as infantry/4/1,
-- engineer/1 or tank/1-3: the most telling that fits.

create or replace function ddp._chart_weapons(kind text, steps integer, range integer)
returns text[]
language plpgsql stable parallel safe
as $$
begin
  return (
    select regexp_split_to_array(trim(entry.weapons), '[ ,]+')
    from (
      select
        cell.row_key,
        max(cell.value) filter (where cell.column_key = 'weapons') as weapons,
        max(cell.value) filter (where cell.column_key = 'range') as reach,
        max(cell.value) filter (where cell.column_key = 'steps') as steps
      from charts.cell_in_force as cell
      where cell.ruleset = 'ddp' and cell.chart = 'us_weapons_chart' and split_part(cell.row_key, '/', 1) = _chart_weapons.kind
      group by cell.row_key
    ) as entry
    where entry.weapons is not null
      and (entry.reach is null or entry.reach !~ '^[0-9]+$' or entry.reach::integer >= _chart_weapons.range)
      and (entry.steps is null or entry.steps !~ '^[0-9]+$' or entry.steps::integer = _chart_weapons.steps)
    order by case when entry.reach ~ '^[0-9]+$' then entry.reach::integer end nulls last
    limit 1
  );
end
$$;

comment on function ddp._chart_weapons(text, integer, integer) is
'The weapons that the US Weapons Chart gives a kind of unit with so many steps at a range; null where nobody has told (8.2, 8.28).';

create or replace function ddp._weapons(unit positions.counter, range integer)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  kind text := unit.kind;
  charted text[];
begin
  if unit.attributes ? 'weapons' then
    return array(select jsonb_array_elements_text(unit.attributes -> 'weapons'));
  end if;
  charted := ddp._chart_weapons(kind, (unit.attributes ->> 'steps')::integer, range);
  -- 8.28: an amphibious tank is a tank that has a flamethrower besides
  if charted is null and kind = 'amphibious_tank' then
    charted := ddp._chart_weapons('tank', null, range);
  end if;
  return charted;
end
$$;

comment on function ddp._weapons(positions.counter, integer) is
'The weapons that a US unit brings to bear at a range: those written with it, else those of the chart; null where neither tells (8.2).';
