-- needs: positions/geometry.sql
-- Range and trace in ccp (Combat Commander: Pacific): 3.1.2, 16.1.

create or replace function ccp.range(position_id bigint, "from" text, "to" text)
returns setof rulings.sight_step
language sql stable parallel safe rows 1
as $$
  select * from positions._range(range.position_id, range."from", range."to", '3.1.2')
$$;

comment on function ccp.range(bigint, text, text) is
'The range between two hexes or units, the target''s hex counted.';

create or replace function ccp.trace(position_id bigint, "from" text, "to" text)
returns setof rulings.trace_step
language sql stable parallel safe rows 20
as $$
  select * from positions._trace(trace.position_id, trace."from", trace."to", '16.1')
$$;

comment on function ccp.trace(bigint, text, text) is
'What the line between two hexes or units passes: hexes, sides that it runs along, and hexes met in a point.';
