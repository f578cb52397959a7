-- needs: lattice/trace.sql, positions/place.sql, rulings/step.sql
-- Range and trace between two places of a position: the counting that every game's `range` and `trace` begin with.

create or replace function positions._range(position_id bigint, "from" text, "to" text, rule text)
returns rulings.sight_step
language plpgsql stable parallel safe
as $$
declare
  hexes integer;
begin
  select lattice.distance(start.q, start.r, target.q, target.r)
  into hexes
  from positions.place(_range.position_id, _range."from") as start,
    positions.place(_range.position_id, _range."to") as target;
  if hexes is null then
    raise exception 'there is no range from % to %: one of them is off the map', _range."from", _range."to"
      using errcode = 'no_data_found';
  end if;
  return row(_range.rule, null, positions.spoken(_range."to"), 'counted', 'hexes counted', null, hexes, null)::rulings.sight_step;
end
$$;

comment on function positions._range(bigint, text, text, text) is
'The hexes from one hex or unit to another, the target''s counted, with the rule of the game that counts them so.';

create or replace function positions._trace(position_id bigint, "from" text, "to" text, rule text)
returns setof rulings.trace_step
language sql stable parallel safe rows 20
as $$
  select
    _trace.rule,
    null,
    positions.cell_label(position.map_id, line.q1, line.r1, line.q2, line.r2),
    case line.kind when 'hex' then 'passes' else 'graze' end,
    format(
      case
        when line.enter = line.leave then '%s, %s/%s of the way'
        else '%s, %s/%s to %s/%s of the way'
      end,
      case line.kind
        when 'hex' then 'passed through its inside'
        when 'spine' then 'the line runs along this side'
        else 'met in a single point'
      end,
      line.enter,
      line.den,
      line.leave,
      line.den
    ),
    null,
    line.kind
  from public.position,
    positions.place(_trace.position_id, _trace."from") as start,
    positions.place(_trace.position_id, _trace."to") as target,
    lateral lattice.line(start.q, start.r, target.q, target.r) as line
  where position.id = _trace.position_id
    and line.kind in ('hex', 'spine', 'touch')
  order by line.n
$$;

comment on function positions._trace(bigint, text, text, text) is
'What the line between two hexes or units passes, in order; off the map a cell has no label.';
