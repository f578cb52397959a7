-- needs: positions/geometry.sql, bob/thread.sql
-- Range and trace in bob (Band of Brothers): 14.0, and 40.2 of the levels of a building.

create or replace function bob.range(position_id bigint, "from" text, "to" text)
returns setof rulings.sight_step
language sql stable parallel safe rows 1
as $$
  select
    case when levels.apart then '40.2' else counted.rule end,
    counted.clause,
    counted.at,
    counted.effect,
    case when levels.apart then 'two levels of one hex are one hex apart' else counted.note end,
    counted.point,
    case when levels.apart then 1 else counted.range end,
    counted.hindrance
  from positions._range(range.position_id, range."from", range."to", '14.0') as counted
  cross join bob._end(range.position_id, range."from") as start
  cross join bob._end(range.position_id, range."to") as target
  cross join lateral (select counted.range = 0 and start.upper <> target.upper as apart) as levels
$$;

comment on function bob.range(bigint, text, text) is
'The range between two hexes or units, the target''s hex counted.';

create or replace function bob.trace(position_id bigint, "from" text, "to" text)
returns setof rulings.trace_step
language sql stable parallel safe rows 20
as $$
  select * from positions._trace(trace.position_id, trace."from", trace."to", '14.0')
$$;

comment on function bob.trace(bigint, text, text) is
'What the line between two hexes or units passes: hexes, sides that it runs along, and hexes met in a point.';
