-- needs: lattice/trace.sql, positions/place.sql
-- Range and trace between two places of a position, in the words of its map.

create or replace function positions.range(position_id bigint, "from" text, "to" text)
returns table (hexes integer, range integer, rule text, at text, effect text, note text)
language sql stable parallel safe rows 1
as $$
  with ends as (
    select
      -- css 22.3.1: a naval zone is counted at its beach hex
      coalesce(start.attributes -> 'zone', target.attributes -> 'zone') as zone,
      start_hex.q as q1,
      start_hex.r as r1,
      target_hex.q as q2,
      target_hex.r as r2,
      -- css 6.3: inside and outside of a cave are one hex apart
      position.ruleset = 'css'
      and coalesce(start.attributes ->> 'in_cave', 'false')
      <> coalesce(target.attributes ->> 'in_cave', 'false') as through_cave_mouth
    from public.position,
      positions.place(range.position_id, range."from") as start,
      positions.place(range.position_id, range."to") as target,
      lateral (
        select * from positions.place(
          range.position_id, coalesce('hex:' || (start.attributes -> 'zone' ->> 'beach'), range."from")
        )
      ) as start_hex,
      lateral (
        select * from positions.place(
          range.position_id, coalesce('hex:' || (target.attributes -> 'zone' ->> 'beach'), range."to")
        )
      ) as target_hex
    where position.id = range.position_id
  ),
  counted as (
    select
      ends.*,
      lattice.distance(ends.q1, ends.r1, ends.q2, ends.r2) as hexes
    from ends
  )
  select
    counted.hexes,
    counted.hexes
    + case
      when counted.zone ->> 'run' = 'final_run_in' then 1
      when counted.zone ->> 'run' = 'approach' then 3
      when counted.zone is not null then null
      when counted.hexes = 0 and counted.through_cave_mouth then 1
      else 0
    end,
    case
      when counted.zone is not null then '22.3.1'
      when counted.hexes = 0 and counted.through_cave_mouth then '6.3'
    end,
    coalesce(counted.zone ->> 'beach', positions.spoken(range."to")),
    case
      when counted.zone ->> 'run' = 'final_run_in' then '+1'
      when counted.zone ->> 'run' = 'approach' then '+3'
      when counted.zone is not null then 'out of range'
      when counted.hexes = 0 and counted.through_cave_mouth then '+1'
    end,
    case
      when counted.zone is not null then 'a naval zone is counted from its beach hex'
      when counted.hexes = 0 and counted.through_cave_mouth then 'inside and outside of a cave are one hex apart'
    end
  from counted
$$;

comment on function positions.range(bigint, text, text) is
'The range between two hexes or units, with the rule that adds to the hexes counted, if one does.';

create or replace function positions.trace(position_id bigint, "from" text, "to" text)
returns table (n bigint, kind text, label text, way text)
language sql stable parallel safe rows 20
as $$
  select
    line.n,
    line.kind,
    positions.cell_label(position.map_id, line.q1, line.r1, line.q2, line.r2),
    case
      when line.enter = line.leave then format('%s/%s', line.enter, line.den)
      else format('%s/%s to %s/%s', line.enter, line.den, line.leave, line.den)
    end
  from public.position,
    positions.place(trace.position_id, trace."from") as start,
    positions.place(trace.position_id, trace."to") as target,
    lateral lattice.line(start.q, start.r, target.q, target.r) as line
  where position.id = trace.position_id
    and line.kind in ('hex', 'spine', 'touch')
  order by line.n
$$;

comment on function positions.trace(bigint, text, text) is
'What the line between two hexes or units passes, by label, in order; off the map there is no label.';
