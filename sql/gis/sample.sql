-- needs: gis/plane.sql, lattice/cells.sql
-- A large map from afar: one hex in so many stands for those around it.
--
-- The hexes (step · Q, step · R), each as large as `step` hexes, cover the plane without a gap as all hexes do. So a
-- coarser map is a hex map too, and a box of it costs as much as a box of the map itself, however many hexes lie in
-- it: places are reckoned, not sought.

create or replace function gis._step(across double precision, most integer)
returns integer
language sql immutable strict parallel safe
return 1 << greatest(0, ceil(log(2::numeric, greatest(1, across / most)::numeric)))::integer;

comment on function gis._step(double precision, integer) is
'The power of two by which hexes are thinned out, so that of so many side by side no more than `most` are left.';

create or replace function gis._sampled(map_id bigint, box public.geometry, step integer)
returns table (q integer, r integer, label text, terrain text, level integer, geom public.geometry)
language sql stable strict parallel safe
begin atomic
  with span as materialized (
    select
      greatest(public.st_xmin(box), 3 * kept.q_low - 2) as x_low,
      least(public.st_xmax(box), 3 * kept.q_high + 2) as x_high,
      greatest(public.st_ymin(box), kept.y_low - 1) as y_low,
      least(public.st_ymax(box), kept.y_high + 1) as y_high
    from public.map_summary as kept
    where kept.map_id = _sampled.map_id
  )
  select
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    hex.level,
    public.st_scale(lattice.hex(line.q, place.r), step, step)
  from span
  cross join lateral generate_series(
    ceil(span.x_low / (3 * step) - 2.0 / 3)::integer, floor(span.x_high / (3 * step) + 2.0 / 3)::integer
  ) as line (q)
  cross join lateral generate_series(
    ceil((span.y_low / step - 1 - line.q) / 2)::integer, floor((span.y_high / step + 1 - line.q) / 2)::integer
  ) as place (r)
  -- looked up one by one, whatever the planner thinks of the table
  cross join lateral (
    select found.q, found.r, found.label, found.terrain, found.level
    from public.hex as found
    where found.map_id = _sampled.map_id
      and found.q = step * line.q
      and found.r = step * place.r
    order by found.q
    limit 1
  ) as hex;
end;

comment on function gis._sampled(bigint, public.geometry, integer) is
'One hex in step · step of those that meet a box of the lattice, each drawn as large as it stands for.';

create or replace function gis._coarse(map_id bigint, layer text, box public.geometry, step integer)
returns table (id bigint, properties jsonb, geom public.geometry)
language sql stable strict parallel safe
begin atomic
  select
    gis._packed(0, hex.q, hex.r, 0),
    jsonb_build_object(
      'label', hex.label, 'q', hex.q, 'r', hex.r, 'terrain', hex.terrain, 'level', hex.level, 'step', step
    ),
    hex.geom
  from gis._sampled(_coarse.map_id, box, step) as hex
  where _coarse.layer = 'hexes'
  union all
  select
    path.id,
    jsonb_build_object('kind', path.kind, 'name', path.name),
    public.st_simplify(path.geom, step)
  from public.path
  where _coarse.layer = 'paths'
    and path.map_id = _coarse.map_id
    and path.geom && box
    and greatest(
      public.st_xmax(path.geom) - public.st_xmin(path.geom), public.st_ymax(path.geom) - public.st_ymin(path.geom)
    ) >= 4 * step
  union all
  select
    terrain_area.n,
    jsonb_build_object('n', terrain_area.n, 'terrain', terrain_area.terrain),
    terrain_area.geom
  from public.terrain_area
  where _coarse.layer = 'areas'
    and terrain_area.map_id = _coarse.map_id
    and terrain_area.geom && box
    and public.st_area(terrain_area.geom) >= 4 * step * step
  union all
  select
    crest.n,
    jsonb_build_object('n', crest.n, 'level', crest.level),
    public.st_simplify(crest.geom, step)
  from public.crest
  where _coarse.layer = 'crests'
    and crest.map_id = _coarse.map_id
    and crest.geom && box
    and public.st_length(crest.geom) >= 4 * step;
end;

comment on function gis._coarse(bigint, text, public.geometry, integer) is
'One layer of a map from afar: hexes thinned out, ways and artwork as far as they are large enough to be seen; no hexsides.';
